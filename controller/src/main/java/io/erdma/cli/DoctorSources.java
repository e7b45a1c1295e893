package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.doctor.Fact;
import io.erdma.doctor.Facts.Network;
import io.erdma.inventory.LiveSources;
import io.erdma.inventory.NodeSources;
import io.erdma.libc.NativeException;
import io.erdma.netlink.RtNetlink;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What the doctor asks beside files.
 *
 * @param verbsLibrary name or path of libibverbs
 * @param files what is installed of it
 * @param node opens the sources of the inventory
 * @param network reads links, addresses and routes
 */
record DoctorSources(
        String verbsLibrary, VerbsFiles files, Supplier<NodeSources> node, Supplier<Fact<Network>> network) {
    DoctorSources {
        requireNonNull(verbsLibrary, "verbsLibrary is null");
        requireNonNull(files, "files is null");
        requireNonNull(node, "node is null");
        requireNonNull(network, "network is null");
    }

    static DoctorSources live(String verbsLibrary, DoctorPaths paths, Map<String, String> environment) {
        return new DoctorSources(
                verbsLibrary,
                VerbsFiles.here(verbsLibrary, environment),
                () -> new LiveSources(verbsLibrary, paths.node()),
                DoctorSources::readNetwork);
    }

    private static Fact<Network> readNetwork() {
        try (RtNetlink netlink = RtNetlink.open()) {
            return Fact.known(new Network(netlink.links(), netlink.addresses(), netlink.routes()));
        } catch (NativeException e) {
            return Fact.unknown(e.getMessage());
        }
    }
}
