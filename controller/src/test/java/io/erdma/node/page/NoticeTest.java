package io.erdma.node.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.node.page.Notice.Level;
import java.util.List;
import org.junit.jupiter.api.Test;

class NoticeTest {
    private static List<String> of(NodePage page) {
        return Notice.of(page).stream()
                .map(notice -> notice.level() + " " + notice.headline())
                .toList();
    }

    @Test
    void saysInOneLineThatAllIsWell() {
        assertThat(of(Pages.healthy(1))).containsExactly("GOOD The device is healthy");
        assertThat(of(Pages.healthy(8))).containsExactly("GOOD All 8 devices are healthy");
        assertThat(of(Pages.noRdma())).containsExactly("IDLE No eRDMA device on this node");
    }

    @Test
    void saysWhatIsWrongTheWorstFirst() {
        assertThat(of(Pages.oneSick())).containsExactly("BAD 1 of 2 devices is unhealthy");
        assertThat(of(Pages.pods(4))).containsExactly("WARNING A container asked for eRDMA and does not use it");
        assertThat(of(Pages.pods(200))).containsExactly("WARNING 66 containers asked for eRDMA and do not use it");
        assertThat(of(Pages.pendingSwitch())).containsExactly("WARNING A switch of the driver’s mode is waiting");
        assertThat(of(Pages.hostile()))
                .containsExactly("BAD Not registered with the kubelet", "BAD 9 of 9 devices are unhealthy");
    }

    @Test
    void tellsWhyTheKubeletHasNotAcceptedTheAgent() {
        assertThat(Notice.of(Pages.notRegistered())).singleElement().satisfies(notice -> {
            assertThat(notice.level()).isEqualTo(Level.BAD);
            assertThat(notice.detail()).contains("no kubelet listens at");
        });
    }

    @Test
    void takesWhatPassesByItselfForNoFailure() {
        assertThat(of(Pages.switching())).containsExactly("BUSY Out of service for a moment");
        assertThat(of(Pages.justStarted())).containsExactly("BUSY Looking at the devices");
    }
}
