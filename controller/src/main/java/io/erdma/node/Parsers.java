package io.erdma.node;

import io.erdma.inventory.DeviceSelector;
import io.erdma.netlink.IpPrefix;
import io.erdma.node.Setting.InvalidValueException;
import io.erdma.node.Setting.Parser;
import io.erdma.node.driver.DriverMode;
import io.erdma.node.driver.InstallerSettings;
import io.erdma.node.interfaces.ExposedRules;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** How texts of settings become values. */
final class Parsers {
    private static final Pattern DURATION = Pattern.compile("(?:[0-9]{1,9}(?:\\.[0-9]{1,9})?(?:ms|s|m|h))+");
    private static final Pattern DURATION_PART = Pattern.compile("([0-9.]+)(ms|s|m|h)");
    private static final Map<String, Integer> MILLIS = Map.of("ms", 1, "s", 1_000, "m", 60_000, "h", 3_600_000);

    private static final Pattern DNS_SUBDOMAIN =
            Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
    private static final Pattern QUALIFIED_NAME = Pattern.compile("[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");
    private static final Pattern SERVICE_ADDRESS =
            Pattern.compile("http://(?:(?<v4>[0-9.]+)|\\[(?<v6>[0-9A-Fa-f:.]+)])(?::(?<port>[0-9]{1,5}))?/?");

    private Parsers() {}

    /** The forms that Go's flag package knows, so that command lines written for the Go agent keep their meaning. */
    static boolean bool(String text) throws InvalidValueException {
        return switch (text) {
            case "1", "t", "T", "true", "TRUE", "True" -> true;
            case "0", "f", "F", "false", "FALSE", "False" -> false;
            default -> throw new InvalidValueException("not true or false");
        };
    }

    static boolean isBool(String text) {
        try {
            bool(text);
            return true;
        } catch (InvalidValueException e) {
            return false;
        }
    }

    /** Empty, as the Go agent's chart passes it when nobody chose one: the node decides. */
    static Optional<DriverMode> driverMode(String text) throws InvalidValueException {
        return text.isEmpty()
                ? Optional.empty()
                : Optional.of(oneOf("mode", DriverMode.class).parse(text));
    }

    static String installerUrl(String text) throws InvalidValueException {
        Optional<String> problem = text.isEmpty() ? Optional.empty() : InstallerSettings.problemWith(text);
        if (problem.isPresent()) {
            throw new InvalidValueException(problem.get());
        }
        return text;
    }

    static String sha256(String text) throws InvalidValueException {
        if (!text.isEmpty() && !text.matches("[0-9a-fA-F]{64}")) {
            throw new InvalidValueException("not a SHA-256 sum; use its 64 hexadecimal digits");
        }
        return text;
    }

    static Parser<Integer> integer(int least, int most) {
        return text -> {
            String wanted = "use a whole number from " + least + " to " + most;
            try {
                int value = Integer.parseInt(text);
                if (value < least || value > most) {
                    throw new InvalidValueException("out of range; " + wanted);
                }
                return value;
            } catch (NumberFormatException e) {
                throw new InvalidValueException("not a number; " + wanted);
            }
        };
    }

    /** @param what names the kind of word, as in "unknown mode" */
    static Parser<String> oneOf(String what, String... words) {
        return text -> {
            if (!Arrays.asList(words).contains(text)) {
                throw new InvalidValueException("unknown " + what + "; use " + alternatives(words));
            }
            return text;
        };
    }

    static <E extends Enum<E>> Parser<E> oneOf(String what, Class<E> type) {
        E[] constants = type.getEnumConstants();
        String[] words = Arrays.stream(constants)
                .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                .toArray(String[]::new);
        return text -> constants[Arrays.asList(words).indexOf(oneOf(what, words).parse(text))];
    }

    private static String alternatives(String... words) {
        return Arrays.stream(words).limit(words.length - 1L).collect(Collectors.joining(", ")) + " or "
                + words[words.length - 1];
    }

    static Parser<Duration> duration(Duration least, Duration most) {
        return text -> {
            String wanted = "use for example 500ms, 5s or 1m30s";
            if (!DURATION.matcher(text).matches()) {
                throw new InvalidValueException("not a duration; " + wanted);
            }
            BigDecimal millis = BigDecimal.ZERO;
            Matcher part = DURATION_PART.matcher(text);
            while (part.find()) {
                millis = millis.add(
                        new BigDecimal(part.group(1)).multiply(BigDecimal.valueOf(MILLIS.get(part.group(2)))));
            }
            if (millis.compareTo(BigDecimal.valueOf(least.toMillis())) < 0
                    || millis.compareTo(BigDecimal.valueOf(most.toMillis())) > 0) {
                throw new InvalidValueException("out of range; use " + write(least) + " to " + write(most));
            }
            return Duration.ofMillis(millis.longValue());
        };
    }

    private static String write(Duration duration) {
        return duration.toMillis() % 1000 == 0 ? duration.toSeconds() + "s" : duration.toMillis() + "ms";
    }

    static Path directory(String text) throws InvalidValueException {
        try {
            Path path = Path.of(text);
            if (!path.isAbsolute()) {
                throw new InvalidValueException("not an absolute path; start it with /");
            }
            return path.normalize();
        } catch (InvalidPathException e) {
            throw new InvalidValueException("not a path: " + e.getReason());
        }
    }

    /** A soname that the loader looks up, or an absolute path. */
    static String library(String text) throws InvalidValueException {
        if (text.isBlank() || (text.contains("/") && !text.startsWith("/")) || hasControl(text)) {
            throw new InvalidValueException("not a library; use a soname such as libibverbs.so.1 or an absolute path");
        }
        return text;
    }

    /** Which names the kubelet accepts as an extended resource. */
    static String extendedResource(String text) throws InvalidValueException {
        int slash = text.indexOf('/');
        String domain = slash < 0 ? "" : text.substring(0, slash);
        String name = text.substring(slash + 1);
        if (slash < 0) {
            throw new InvalidValueException("no domain; an extended resource reads DOMAIN/NAME, as aliyun/erdma");
        }
        if (domain.length() > 253 || !DNS_SUBDOMAIN.matcher(domain).matches()) {
            throw new InvalidValueException(
                    "the part before / is no domain; use lower-case letters, digits, dashes and dots");
        }
        if (domain.endsWith("kubernetes.io")) {
            throw new InvalidValueException("the domain kubernetes.io belongs to Kubernetes; use another one");
        }
        // The kubelet forms the quota name requests.DOMAIN/NAME and demands that it is still a valid one.
        if (domain.startsWith("requests.") || domain.length() > 253 - "requests.".length()) {
            throw new InvalidValueException("the domain may not begin with requests. and not exceed 244 characters");
        }
        if (!QUALIFIED_NAME.matcher(name).matches()) {
            throw new InvalidValueException(
                    "the part after / is no name; use at most 63 letters, digits, dashes, dots and underscores");
        }
        return text;
    }

    /** An address as Go programs take it: {@code :9470}, {@code 127.0.0.1:9470}, {@code [::]:9470}; empty means none. */
    static Optional<InetSocketAddress> listenAddress(String text) throws InvalidValueException {
        if (text.isEmpty()) {
            return Optional.empty();
        }
        String wanted = "use :PORT, ADDRESS:PORT or [IPV6]:PORT; empty turns it off";
        int colon = text.lastIndexOf(':');
        if (colon < 0) {
            throw new InvalidValueException("no port; " + wanted);
        }
        int port;
        try {
            port = integer(0, 65_535).parse(text.substring(colon + 1));
        } catch (InvalidValueException e) {
            throw new InvalidValueException("no valid port; " + wanted);
        }
        String host = text.substring(0, colon);
        if (host.isEmpty()) {
            return Optional.of(new InetSocketAddress(port));
        }
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        String address = bracketed ? host.substring(1, host.length() - 1) : host;
        // A literal only: a name would make the start depend on DNS.
        boolean literal = bracketed ? address.matches("[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*") : isIpv4(address);
        if (!literal && !address.equals("localhost")) {
            throw new InvalidValueException("not an IP address; " + wanted);
        }
        try {
            return Optional.of(new InetSocketAddress(InetAddress.getByName(address), port));
        } catch (UnknownHostException e) {
            throw new InvalidValueException("not an IP address; " + wanted);
        }
    }

    private static boolean isIpv4(String text) {
        String[] parts = text.split("\\.", -1);
        return parts.length == 4
                && Arrays.stream(parts).allMatch(part -> part.matches("[0-9]{1,3}") && Integer.parseInt(part) <= 255);
    }

    /** Rules as the Go agent takes them, joined by commas: {@code i-bp1… erdma_0/erdma_1}. */
    static ExposedRules localEris(String text) throws InvalidValueException {
        try {
            return ExposedRules.parse(text);
        } catch (IllegalArgumentException e) {
            throw new InvalidValueException(e.getMessage());
        }
    }

    /** The name of a Node object; empty for the host's own name. */
    static String nodeName(String text) throws InvalidValueException {
        if (text.length() > 253
                || !(text.isEmpty() || DNS_SUBDOMAIN.matcher(text).matches())) {
            throw new InvalidValueException("not a node's name; use lower-case letters, digits, dashes and dots");
        }
        return text;
    }

    /** Where an HTTP service is: {@code http://100.100.100.200}, {@code http://[fd00::1]:8080}. */
    static InetSocketAddress serviceAddress(String text) throws InvalidValueException {
        String wanted = "use http://ADDRESS or http://ADDRESS:PORT with an IP address";
        Matcher matcher = SERVICE_ADDRESS.matcher(text);
        if (!matcher.matches()) {
            throw new InvalidValueException("no address of a service; " + wanted);
        }
        int port;
        try {
            port = matcher.group("port") == null ? 80 : integer(1, 65_535).parse(matcher.group("port"));
        } catch (InvalidValueException e) {
            throw new InvalidValueException("no valid port; " + wanted);
        }
        try {
            return new InetSocketAddress(
                    IpPrefix.address(matcher.group("v4") == null ? matcher.group("v6") : matcher.group("v4")), port);
        } catch (IllegalArgumentException e) {
            throw new InvalidValueException("not an IP address; " + wanted);
        }
    }

    static DeviceSelector selector(String text) throws InvalidValueException {
        try {
            return DeviceSelector.parse(text);
        } catch (IllegalArgumentException e) {
            throw new InvalidValueException("not a rule; use " + DeviceSelector.FORMS);
        }
    }

    static String text(String text) throws InvalidValueException {
        if (hasControl(text)) {
            throw new InvalidValueException("contains control characters");
        }
        return text;
    }

    private static boolean hasControl(String text) {
        return text.chars().anyMatch(Character::isISOControl);
    }
}
