package io.erdma.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import io.erdma.nccl.Evidence;
import io.erdma.nccl.Expectation;
import io.erdma.nccl.IbDevice;
import io.erdma.nccl.Mode;
import io.erdma.nccl.NcclLog;
import io.erdma.nccl.NcclLog.Training;
import io.erdma.nccl.NcclVerdict;
import io.erdma.nccl.NcclVerdict.Finding;
import io.erdma.nccl.NcclVerdict.Group;
import io.erdma.nccl.NcclVerdict.JudgedVariable;
import io.erdma.nccl.Outcome;
import io.erdma.nccl.RankNames;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * {@code erdma nccl-check --json}. Programs read it, so keys and words may be added but not changed:
 *
 * <pre>
 * verdict     erdma, not-erdma or unknown
 * ranks       inLog, inJob or null, failing{count, names} or null
 * driverMode  iwarp, roce or null; driverModeSource
 * groups[]    ranks{count, names}, verdict, reason, meaning, networks[], devices[]{index, name, port, linkLayer},
 *             traffic (verbs, tcp, local, unseen), gpuDirect (used, partly, unused, enabled, disabled, unknown),
 *             evidence{line, text} or null, cure or null
 * groupsLeftOut
 * findings[]  id, severity (failure, warning, note), ranks{count, names} or null, evidence{line, text} or null, meaning,
 *             cure or null
 * variables[] name, value, kind (system, debug, other), severity or null, meaning or null, ranks{count, names} or null,
 *             evidence{line, text}
 * training    seen, lines, first{line, text} or null, lastLine or null, ranks[]
 * log         bytes, lines, longLines, ncclInfoLines, ncclVersions[]
 * </pre>
 */
final class NcclCheckJson {
    private static final int MOST_GROUPS = 1_000;

    private NcclCheckJson() {}

    static String format(NcclLog log, Expectation expected, NcclVerdict verdict) throws IOException {
        return Json.object(json -> {
            json.writeStringField("verdict", name(verdict.outcome()));
            json.writeObjectFieldStart("ranks");
            json.writeNumberField("inLog", verdict.ranks());
            if (verdict.ranksInJob() > 0) {
                json.writeNumberField("inJob", verdict.ranksInJob());
            } else {
                json.writeNullField("inJob");
            }
            ranks(json, "failing", verdict.failing());
            json.writeEndObject();
            Json.string(json, "driverMode", expected.mode().map(NcclCheckJson::name));
            Json.string(
                    json,
                    "driverModeSource",
                    expected.mode().isPresent() ? Optional.of(expected.modeSource()) : Optional.empty());
            groups(json, verdict.groups());
            json.writeArrayFieldStart("findings");
            for (Finding finding : verdict.findings()) {
                finding(json, finding);
            }
            json.writeEndArray();
            json.writeArrayFieldStart("variables");
            for (JudgedVariable variable : verdict.variables()) {
                variable(json, variable);
            }
            json.writeEndArray();
            training(json, log.training());
            json.writeObjectFieldStart("log");
            json.writeNumberField("bytes", log.bytes());
            json.writeNumberField("lines", log.lines());
            json.writeNumberField("longLines", log.longLines());
            json.writeNumberField("ncclInfoLines", log.infoLines());
            json.writeArrayFieldStart("ncclVersions");
            for (String version : log.versions()) {
                json.writeString(version);
            }
            json.writeEndArray();
            json.writeEndObject();
        });
    }

    private static void groups(JsonGenerator json, List<Group> groups) throws IOException {
        int shown = Math.min(groups.size(), MOST_GROUPS);
        json.writeArrayFieldStart("groups");
        for (Group group : groups.subList(0, shown)) {
            json.writeStartObject();
            ranks(json, "ranks", Optional.of(group.ranks()));
            json.writeStringField("verdict", name(group.reason().outcome()));
            json.writeStringField("reason", group.reason().id());
            json.writeStringField("meaning", group.reason().text());
            json.writeArrayFieldStart("networks");
            for (String network : group.networks().stream().sorted().toList()) {
                json.writeString(network);
            }
            json.writeEndArray();
            json.writeArrayFieldStart("devices");
            for (IbDevice device : group.devices()) {
                json.writeStartObject();
                json.writeNumberField("index", device.index());
                json.writeStringField("name", device.name());
                json.writeNumberField("port", device.port());
                json.writeStringField("linkLayer", device.linkLayer());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeStringField("traffic", lower(group.traffic()));
            json.writeStringField("gpuDirect", lower(group.gpuDirect()));
            evidence(json, "evidence", group.evidence());
            Json.string(json, "cure", present(group.reason().cure()));
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeNumberField("groupsLeftOut", groups.size() - shown);
    }

    private static void finding(JsonGenerator json, Finding finding) throws IOException {
        json.writeStartObject();
        json.writeStringField("id", finding.id());
        json.writeStringField("severity", lower(finding.severity()));
        ranks(json, "ranks", finding.ranks());
        evidence(json, "evidence", finding.evidence());
        json.writeStringField("meaning", finding.meaning());
        Json.string(json, "cure", present(finding.cure()));
        json.writeEndObject();
    }

    private static void variable(JsonGenerator json, JudgedVariable variable) throws IOException {
        json.writeStartObject();
        json.writeStringField("name", variable.name());
        json.writeStringField("value", variable.value());
        json.writeStringField("kind", lower(variable.kind()));
        Json.string(json, "severity", variable.severity().map(NcclCheckJson::lower));
        Json.string(json, "meaning", present(variable.meaning()));
        ranks(json, "ranks", variable.ranks());
        evidence(json, "evidence", Optional.of(variable.evidence()));
        json.writeEndObject();
    }

    private static void training(JsonGenerator json, Training training) throws IOException {
        json.writeObjectFieldStart("training");
        json.writeBooleanField("seen", training.first().isPresent());
        json.writeNumberField("lines", training.steps());
        evidence(json, "first", training.first());
        if (training.last() > 0) {
            json.writeNumberField("lastLine", training.last());
        } else {
            json.writeNullField("lastLine");
        }
        json.writeArrayFieldStart("ranks");
        for (int rank : training.ranks().stream().toArray()) {
            json.writeNumber(rank);
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void ranks(JsonGenerator json, String key, Optional<RankNames.Names> ranks) throws IOException {
        if (ranks.isEmpty()) {
            json.writeNullField(key);
            return;
        }
        json.writeObjectFieldStart(key);
        json.writeNumberField("count", ranks.get().count());
        json.writeStringField("names", ranks.get().text());
        json.writeEndObject();
    }

    private static void evidence(JsonGenerator json, String key, Optional<Evidence> evidence) throws IOException {
        if (evidence.isEmpty()) {
            json.writeNullField(key);
            return;
        }
        json.writeObjectFieldStart(key);
        json.writeNumberField("line", evidence.get().line());
        json.writeStringField("text", evidence.get().text());
        json.writeEndObject();
    }

    private static Optional<String> present(String text) {
        return text.isEmpty() ? Optional.empty() : Optional.of(text);
    }

    private static String name(Outcome outcome) {
        return switch (outcome) {
            case ERDMA -> "erdma";
            case NOT_ERDMA -> "not-erdma";
            case UNKNOWN -> "unknown";
        };
    }

    private static String name(Mode mode) {
        return switch (mode) {
            case IWARP -> "iwarp";
            case ROCE -> "roce";
        };
    }

    private static String lower(Enum<?> word) {
        return word.name().toLowerCase(Locale.ROOT);
    }
}
