package io.erdma.netlink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.erdma.netlink.LinkChange.Changed;
import io.erdma.netlink.LinkChange.Lost;
import io.erdma.netlink.LinkChange.Removed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * What {@link RtNetlinkIT} runs in a process of its own, inside a network namespace that ends with that process: the
 * test's own threads live in the machine's namespace.
 */
enum NamespaceScenario {
    SEES_A_LINK_GO_DOWN_AND_COME_BACK {
        @Override
        void run(RtNetlink netlink) throws Exception {
            ip("link add v0 type veth peer name v1", "link set v0 up", "link set v1 up");
            awaitChange(netlink, isLink("v0", Link::hasCarrier));
            ip("link set v1 down");
            // Its own flags say up; only the carrier has gone.
            awaitChange(netlink, isLink("v0", link -> link.isUp() && !link.hasCarrier()));
            ip("link set v0 down");
            awaitChange(netlink, isLink("v0", link -> !link.isUp()));
            ip("link set v0 up", "link set v1 up");
            awaitChange(netlink, isLink("v0", Link::hasCarrier));
        }
    },
    FOLLOWS_RENAMED_AND_REMOVED_LINKS {
        @Override
        void run(RtNetlink netlink) throws Exception {
            ip("link add v0 type veth peer name v1");
            int index = netlink.links().stream()
                    .filter(link -> link.name().equals("v0"))
                    .findFirst()
                    .orElseThrow()
                    .index();
            ip("link set v0 name eth0");
            awaitChange(netlink, isLink("eth0", link -> link.index() == index));
            ip("link del eth0");
            awaitChange(netlink, change -> change.equals(new Removed(index, "eth0")));
            assertThat(netlink.links()).extracting(Link::name).doesNotContain("eth0", "v0", "v1");
        }
    },
    SAYS_THAT_NOTIFICATIONS_WERE_LOST_AND_GOES_ON {
        @Override
        void run(RtNetlink netlink) throws Exception {
            netlink.notificationBuffer(1);
            ip("link add v0 type veth peer name v1");
            ip(IntStream.range(0, 500)
                    .mapToObj(i -> "link set v0 mtu " + (1000 + i))
                    .toArray(String[]::new));
            assertThat(netlink.nextChanges()).contains(new Lost());
            assertThat(netlink.nextChanges()).isEmpty();
            assertThat(netlink.links())
                    .filteredOn(link -> link.name().equals("v0"))
                    .extracting(Link::mtu)
                    .containsExactly(1499);
            netlink.notificationBuffer(1 << 20);
            ip("link set v0 mtu 2000");
            awaitChange(netlink, isLink("v0", link -> link.mtu() == 2000));
        }
    },
    DUMPS_CONSISTENTLY_WHILE_LINKS_CHURN {
        private static final int PAIRS = 150;

        @Override
        void run(RtNetlink netlink) throws Exception {
            ip(IntStream.range(0, PAIRS)
                    .mapToObj(i -> "link add s" + i + "a type veth peer name s" + i + "b")
                    .toArray(String[]::new));
            List<String> churn = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                churn.add("link add x" + i + "a type veth peer name x" + i + "b");
                churn.add("link set x" + i + "a name y");
                churn.add("link del y");
            }
            Process process = start(churn);
            try (var socket = NetlinkSocket.open(NetlinkSocket.ROUTE, "churning links")) {
                boolean interrupted = false;
                for (int dumps = 0; dumps < 10 || (!interrupted && process.isAlive()); dumps++) {
                    interrupted |= socket.dumpOnce("RTM_GETLINK", RtMessages.GET_LINK, RtMessages.allLinks())
                            .interrupted();
                    assertThat(netlink.links())
                            .extracting(Link::name)
                            .filteredOn(name -> name.startsWith("s"))
                            .hasSize(2 * PAIRS)
                            .doesNotHaveDuplicates();
                }
                assertThat(interrupted).as("the kernel interrupted a dump").isTrue();
            } finally {
                process.destroy();
                process.waitFor();
            }
        }
    };

    abstract void run(RtNetlink netlink) throws Exception;

    private static Predicate<LinkChange> isLink(String name, Predicate<Link> state) {
        return change ->
                change instanceof Changed changed && changed.link().name().equals(name) && state.test(changed.link());
    }

    private static void awaitChange(RtNetlink netlink, Predicate<LinkChange> wanted) {
        var seen = new ArrayList<LinkChange>();
        await().atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(5))
                .untilAsserted(() -> {
                    seen.addAll(netlink.nextChanges());
                    assertThat(seen).anyMatch(wanted);
                });
    }

    private static void ip(String... commands) throws IOException, InterruptedException {
        assertThat(start(List.of(commands)).waitFor()).isZero();
    }

    private static Process start(List<String> commands) throws IOException {
        // From a file, since a pipe would make us wait until most of a long list is done.
        Path batch = Files.createTempFile("ip", ".batch");
        batch.toFile().deleteOnExit();
        Files.write(batch, commands);
        return new ProcessBuilder("ip", "-batch", batch.toString()).inheritIO().start();
    }

    /** @param args the scenario's name */
    public static void main(String[] args) throws Exception {
        try (RtNetlink netlink = RtNetlink.open()) {
            valueOf(args[0]).run(netlink);
        }
        System.out.println("scenario done");
    }
}
