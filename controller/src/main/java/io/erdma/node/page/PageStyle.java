package io.erdma.node.page;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** How the page looks, in light and dark, and the policy that lets a browser take nothing else. */
public final class PageStyle {
    /** Text has a contrast of at least 4.5 to what it stands on; a test asks the browser. */
    static final String CSS = """
            :root{--back:#f4f6f9;--card:#fff;--line:#d9dfe7;--text:#18202b;--soft:#515d6c;--link:#0b57c2;--rx:#1a62c9;--tx:#a0389b;--good:#0b6a3e;--good-back:#e0f4e8;--idle:#4b5766;--idle-back:#e9edf2;--busy:#1d4f9c;--busy-back:#e3edfb;--warning:#7a4b00;--warning-back:#fdf0d5;--bad:#a51621;--bad-back:#fde6e6}
            @media (prefers-color-scheme:dark){:root{--back:#0f141b;--card:#171e28;--line:#2b3542;--text:#e7ecf2;--soft:#a6b2c0;--link:#86b8ff;--rx:#74b0ff;--tx:#e79be2;--good:#84e3aa;--good-back:#12331f;--idle:#b4bfcb;--idle-back:#232c38;--busy:#9cc4ff;--busy-back:#172c4b;--warning:#ffd07a;--warning-back:#3a2b0b;--bad:#ffa3a3;--bad-back:#42181b}}
            *{box-sizing:border-box}
            body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere;-webkit-text-size-adjust:100%}
            header,main,footer{max-width:72rem;margin:0 auto;padding:0 1rem}
            header{padding-top:1.5rem}
            .kind{margin:0;color:var(--soft);font-size:.875rem}
            h1{margin:0 0 .75rem;font-size:1.6rem;line-height:1.25}
            h2{margin:1.75rem 0 .6rem;font-size:1.1rem}
            h3{margin:0;font-size:1.05rem}
            p{margin:.25rem 0}
            a{color:var(--link)}
            a:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:2px}
            ul,ol{list-style:none;margin:0;padding:0}
            dl{margin:0}
            .notices{display:grid;gap:.5rem}
            .notice{display:flex;gap:.75rem;align-items:flex-start;padding:.75rem 1rem;border-radius:.75rem;border:1px solid transparent}
            .notice .icon{width:1.25rem;height:1.25rem;margin-top:.15rem}
            .notice:first-child strong{font-size:1.15rem}
            .notice:first-child .icon{width:1.5rem;height:1.5rem;margin-top:.1rem}
            .notice p{color:var(--text)}
            .good{color:var(--good);background:var(--good-back)}
            .idle{color:var(--idle);background:var(--idle-back)}
            .busy{color:var(--busy);background:var(--busy-back)}
            .warning{color:var(--warning);background:var(--warning-back)}
            .bad{color:var(--bad);background:var(--bad-back)}
            header.good,header.idle,header.busy,header.warning,header.bad{color:inherit;background:none}
            .icon{flex:none;width:.9rem;height:.9rem;fill:currentColor;stroke:none}
            .icon path:not(.body){fill:none;stroke:var(--card);stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}
            .icon .ring{fill:none;stroke:currentColor;stroke-width:2}
            .pill{display:inline-flex;gap:.35rem;align-items:center;padding:.05rem .6rem .05rem .45rem;border-radius:1rem;font-size:.85rem;font-weight:600;line-height:1.5}
            .card{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1rem;margin:0}
            .empty,.note,.since,.axis{color:var(--soft)}
            .note,.since{font-size:.875rem}
            .cards{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(20rem,100%),1fr))}
            .title{display:flex;flex-wrap:wrap;gap:.25rem .75rem;justify-content:space-between;align-items:center}
            .why{color:var(--bad);font-weight:600}
            .pair{display:grid;gap:0 1rem;grid-template-columns:repeat(auto-fit,minmax(min(20rem,100%),1fr))}
            .pair section{display:flex;flex-direction:column}
            .pair .card{flex:1}
            dl>div{display:flex;gap:1rem;padding:.2rem 0}
            dt{flex:none;width:8.5rem;color:var(--soft)}
            dd{flex:1;min-width:0;margin:0}
            figure{margin:.6rem 0}
            figcaption{display:grid;gap:.1rem;font-size:.9rem}
            .rate{display:grid;grid-template-columns:1.125rem 6.75rem 7rem auto;gap:0 .5rem;align-items:center;font-variant-numeric:tabular-nums}
            .rate b{text-align:right}
            .key{width:1.125rem;height:.375rem}
            .rx,.tx{fill:none;stroke-width:1.75;stroke-linejoin:round}
            .rx{stroke:var(--rx)}
            .tx{stroke:var(--tx);stroke-dasharray:4 2.5}
            .flow{display:block;width:100%;height:3.25rem;margin-top:.35rem;border-bottom:1px solid var(--line)}
            .axis{display:flex;justify-content:space-between;gap:.5rem;margin:.1rem 0 0;font-size:.75rem}
            .bar{display:block;width:100%;max-width:12rem;height:.375rem;margin-top:.2rem;border-radius:.2rem}
            .bar rect{fill:var(--line)}
            .bar .filled{fill:var(--rx)}
            table{width:100%;border-collapse:collapse;margin-top:.6rem;font-size:.925rem}
            caption{text-align:left;color:var(--soft);font-size:.875rem;padding-bottom:.35rem}
            th,td{text-align:left;padding:.4rem .6rem .4rem 0;border-top:1px solid var(--line);vertical-align:top;font-weight:400}
            thead th{color:var(--soft);border:0;white-space:nowrap}
            td:last-child{min-width:11.5rem}
            .number{text-align:right;padding-right:1.5rem;font-variant-numeric:tabular-nums}
            .lines li{display:flex;gap:.75rem;align-items:flex-start;padding:.25rem 0;font-size:.925rem}
            .lines .pill{flex:none;min-width:6.2rem}
            .lines .idle{background:none}
            .lines time{color:var(--soft);font-variant-numeric:tabular-nums}
            footer{padding-top:1.25rem;padding-bottom:2rem;color:var(--soft);font-size:.875rem}
            @media (max-width:40rem){
            .lines li{flex-direction:column;gap:.1rem;padding:.4rem 0}
            dt{width:7.5rem}
            .rate{grid-template-columns:1.125rem 1fr auto}
            .rate .packets{grid-column:2/4;text-align:right}
            table,caption,tbody,tr,th,td{display:block}
            thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
            tr{padding:.5rem 0;border-top:1px solid var(--line)}
            th,td{border:0;padding:.1rem 0}
            tbody th{font-weight:600}
            td:last-child{min-width:0}
            td[data-label]{display:flex;gap:1rem;text-align:left}
            td[data-label]::before{content:attr(data-label);flex:none;width:7.5rem;color:var(--soft)}
            }
            """;

    /** Nothing but that style: no script, no picture, no frame around it, nothing from anywhere. */
    public static final String POLICY = "default-src 'none'; style-src 'sha256-" + hash(CSS)
            + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private PageStyle() {}

    private static String hash(String style) {
        try {
            return Base64.getEncoder()
                    .encodeToString(
                            MessageDigest.getInstance("SHA-256").digest(style.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
