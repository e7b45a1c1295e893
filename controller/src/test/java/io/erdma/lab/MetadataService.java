package io.erdma.lab;

import io.erdma.node.interfaces.FakeMetadata;
import java.io.IOException;

/**
 * A metadata service for a machine that runs elsewhere: knows the given interfaces, the first of which is the instance's
 * own, prints its port on loopback, and ends with its standard input.
 *
 * <p>Arguments: {@code GATEWAY} and then {@code MAC=ADDRESS} for each interface.
 */
final class MetadataService {
    private MetadataService() {}

    public static void main(String[] args) throws IOException {
        try (FakeMetadata metadata = FakeMetadata.start()) {
            for (int i = 1; i < args.length; i++) {
                String[] eni = args[i].split("=", 2);
                if (i == 1) {
                    metadata.value("mac", eni[0]);
                }
                metadata.eni(eni[0], eni[1], args[0]);
            }
            System.out.println(metadata.address().getPort());
            while (System.in.read() >= 0) {
                // Nobody has anything to say; the end of it is what counts.
            }
        }
    }
}
