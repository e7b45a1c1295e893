package io.erdma.inventory;

import io.erdma.netlink.RdmaCharacterDevice;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A rule that says which RDMA devices we offer; as text it reads as it is written in the configuration. */
public sealed interface DeviceSelector {
    /** Forms that {@link #parse} understands, for messages and help texts. */
    String FORMS = "driver=NAME, name=GLOB or pci=VVVV:DDDD";

    /** The default: eRDMA, known by its driver or its PCI function. */
    DeviceSelector ERDMA = new Erdma();

    /**
     * What is known of a device when it is chosen.
     *
     * @param drivers every name its driver goes by
     */
    record Candidate(
            String name, Set<String> drivers, OptionalInt driverId, OptionalInt pciVendor, OptionalInt pciDevice) {
        public Candidate {
            drivers = Set.copyOf(drivers);
        }
    }

    /** Why the device is chosen, in a few words; empty when it is not. */
    Optional<String> choose(Candidate candidate);

    /** @throws IllegalArgumentException names the text and the valid forms */
    static DeviceSelector parse(String text) {
        int equals = text.indexOf('=');
        String key = equals < 0 ? "" : text.substring(0, equals).strip().toLowerCase(Locale.ROOT);
        String value = equals < 0 ? "" : text.substring(equals + 1).strip();
        if (value.isEmpty()) {
            throw malformed(text);
        }
        return switch (key) {
            case "driver" -> new Driver(value);
            case "name" -> new NameGlob(value);
            case "pci" -> {
                if (!value.matches("(0x)?[0-9a-fA-F]{4}:(0x)?[0-9a-fA-F]{4}")) {
                    throw malformed(text);
                }
                String[] ids = value.replace("0x", "").split(":", 2);
                yield new PciFunction(HexFormat.fromHexDigits(ids[0]), HexFormat.fromHexDigits(ids[1]));
            }
            default -> throw malformed(text);
        };
    }

    private static IllegalArgumentException malformed(String text) {
        return new IllegalArgumentException("device selector '" + text + "' is not one of " + FORMS);
    }

    /** By driver or PCI function, never by name: udev may rename the device, and anything may be called erdma_0. */
    record Erdma() implements DeviceSelector {
        private static final String DRIVER = "erdma";
        private static final PciFunction FUNCTION = new PciFunction(0x1ded, 0x107f);

        @Override
        public Optional<String> choose(Candidate candidate) {
            if (candidate.driverId().isPresent()
                    && candidate.driverId().getAsInt() == RdmaCharacterDevice.DRIVER_ERDMA) {
                return Optional.of("the kernel names its uverbs driver as erdma (id 19)");
            }
            if (candidate.drivers().contains(DRIVER)) {
                return Optional.of("bound to the kernel driver erdma");
            }
            return FUNCTION.choose(candidate);
        }

        @Override
        public String toString() {
            return "the default: eRDMA";
        }
    }

    record Driver(String driver) implements DeviceSelector {
        @Override
        public Optional<String> choose(Candidate candidate) {
            return candidate.drivers().contains(driver) ? Optional.of("selector " + this) : Optional.empty();
        }

        @Override
        public String toString() {
            return "driver=" + driver;
        }
    }

    /** @param glob with * for any text and ? for one character */
    record NameGlob(String glob) implements DeviceSelector {
        @Override
        public Optional<String> choose(Candidate candidate) {
            String expression = glob.chars()
                    .mapToObj(c -> switch (c) {
                        case '*' -> ".*";
                        case '?' -> ".";
                        default -> Pattern.quote(Character.toString(c));
                    })
                    .collect(Collectors.joining());
            return candidate.name().matches(expression) ? Optional.of("selector " + this) : Optional.empty();
        }

        @Override
        public String toString() {
            return "name=" + glob;
        }
    }

    record PciFunction(int vendor, int device) implements DeviceSelector {
        @Override
        public Optional<String> choose(Candidate candidate) {
            return candidate.pciVendor().equals(OptionalInt.of(vendor))
                            && candidate.pciDevice().equals(OptionalInt.of(device))
                    ? Optional.of("PCI function %04x:%04x".formatted(vendor, device))
                    : Optional.empty();
        }

        @Override
        public String toString() {
            return "pci=%04x:%04x".formatted(vendor, device);
        }
    }
}
