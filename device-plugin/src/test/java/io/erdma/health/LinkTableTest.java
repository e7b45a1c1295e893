package io.erdma.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.Netdev;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.health.HealthRules.LinkView;
import io.erdma.inventory.ScriptedNode;
import io.erdma.netlink.Link;
import io.erdma.verbs.NodeGuid;
import io.erdma.verbs.NodeType;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

final class LinkTableTest {
    private static final Link UP = ScriptedNode.link(10, "eth0", true);
    private static final Link DOWN = ScriptedNode.link(10, "eth0", false);

    private final LinkTable links = new LinkTable();

    private LinkView view() {
        return links.view(device(Optional.of(new Netdev(10, "eth0", Optional.empty()))));
    }

    private static RdmaDevice device(Optional<Netdev> netdev) {
        return new RdmaDevice(
                "erdma_0",
                new NodeGuid(1),
                NodeType.CA,
                "erdma",
                Optional.empty(),
                netdev,
                Optional.empty(),
                OptionalInt.empty(),
                RdmaCmUse.UNUSED);
    }

    @Test
    void judgesNothingBeforeTheFirstDumpNorADeviceWithoutANetdev() {
        assertThat(view()).isEqualTo(new LinkView.NotJudged());

        links.merge(List.of(UP), 0);

        assertThat(view()).isEqualTo(new LinkView.Seen(UP));
        assertThat(links.view(device(Optional.empty()))).isEqualTo(new LinkView.NotJudged());
    }

    @Test
    void aLinkThatTheDumpLacksIsGone() {
        links.merge(List.of(UP), 0);
        links.merge(List.of(), 10);

        assertThat(view()).isEqualTo(new LinkView.Gone("eth0"));
    }

    @Test
    void whatWasNotifiedSinceTheDumpBeganIsNewerThanTheDump() {
        assertThat(links.changed(DOWN, 20)).isEmpty();
        links.merge(List.of(UP), 10);
        assertThat(view()).isEqualTo(new LinkView.Seen(DOWN));

        links.removed(10, 30);
        links.merge(List.of(UP), 25);
        assertThat(view()).isEqualTo(new LinkView.Gone("eth0"));

        links.merge(List.of(UP), 40);
        assertThat(view()).isEqualTo(new LinkView.Seen(UP));
    }

    @Test
    void tellsWhatItKnewOfALinkThatChanges() {
        links.merge(List.of(UP), 0);

        assertThat(links.changed(DOWN, 10)).contains(UP);
        assertThat(links.changed(UP, 20)).contains(DOWN);
    }
}
