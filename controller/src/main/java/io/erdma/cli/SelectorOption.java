package io.erdma.cli;

import io.erdma.inventory.DeviceSelector;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** What commands make of their {@code --device-selector} options. */
final class SelectorOption {
    /** In the agent's pod its own setting holds, several with commas between them. */
    static final String DEFAULT = "${env:ERDMA_DEVICE_SELECTOR:-}";

    static final String SPLIT = ",";

    private SelectorOption() {}

    /** @throws ParameterException for the first text that is no selector */
    static List<DeviceSelector> parse(CommandSpec command, List<String> texts) {
        List<DeviceSelector> chosen = new ArrayList<>();
        for (String text : texts) {
            if (text.isBlank()) {
                continue;
            }
            try {
                chosen.add(DeviceSelector.parse(text));
            } catch (IllegalArgumentException e) {
                throw new ParameterException(command.commandLine(), "--device-selector: " + e.getMessage(), e);
            }
        }
        return chosen;
    }
}
