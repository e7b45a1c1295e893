package io.erdma.node.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.netlink.Route;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class RouteMetricsTest {
    private static List<OptionalLong> metrics(Long... metrics) {
        return List.of(metrics).stream().map(OptionalLong::of).toList();
    }

    @Test
    void areAboveTheFloorAndEverybodyElse() {
        assertThat(RouteMetrics.base(200, List.of())).isEqualTo(200);
        assertThat(RouteMetrics.base(200, List.of(0L, 100L, 199L))).isEqualTo(200);
        assertThat(RouteMetrics.base(200, List.of(200L))).isEqualTo(201);
        assertThat(RouteMetrics.base(200, List.of(1024L, 100L))).isEqualTo(1025);
    }

    @Test
    void differBetweenInterfaces() {
        assertThat(RouteMetrics.choose(200, List.of(List.of(), List.of()), List.of(0L)))
                .isEqualTo(metrics(200L, 201L));
    }

    @Test
    void stayAsTheyAreWhileTheyAreHighEnough() {
        assertThat(RouteMetrics.choose(200, List.of(List.of(1026L), List.of(1025L)), List.of(1025L, 1026L)))
                .isEqualTo(metrics(1026L, 1025L));
    }

    @Test
    void areTakenFromOneOfTwoInterfacesThatShareThem() {
        assertThat(RouteMetrics.choose(200, List.of(List.of(200L), List.of(200L)), List.of(200L)))
                .isEqualTo(metrics(200L, 201L));
    }

    @Test
    void avoidThoseOfRoutesThatAreAboutToGo() {
        assertThat(RouteMetrics.choose(201, List.of(List.of(200L), List.of()), List.of(200L, 201L, 203L)))
                .isEqualTo(metrics(202L, 204L));
    }

    @Test
    void runOutAtThirtyTwoBits() {
        assertThat(RouteMetrics.choose(Route.MAX_METRIC, List.of(List.of(), List.of()), List.of()))
                .containsExactly(OptionalLong.of(Route.MAX_METRIC), OptionalLong.empty());
        assertThat(RouteMetrics.choose(
                        RouteMetrics.base(200, List.of(Route.MAX_METRIC)), List.of(List.of()), List.of()))
                .containsExactly(OptionalLong.empty());
    }

    @Property(tries = 2_000)
    void areHighEnoughUniqueAndTheSameTheSecondTime(
            @ForAll("metrics") List<Long> others,
            @ForAll("inForce") List<List<Long>> inForce,
            @ForAll("metrics") List<Long> occupied) {
        long base = RouteMetrics.base(200, others);
        List<OptionalLong> chosen = RouteMetrics.choose(base, inForce, occupied);

        List<Long> present = chosen.stream()
                .filter(OptionalLong::isPresent)
                .map(OptionalLong::getAsLong)
                .toList();
        assertThat(present).doesNotHaveDuplicates().allMatch(metric -> metric >= base && metric <= Route.MAX_METRIC);
        for (int i = 0; i < inForce.size(); i++) {
            if (chosen.get(i).isPresent()
                    && !inForce.get(i).contains(chosen.get(i).getAsLong())) {
                assertThat(occupied).doesNotContain(chosen.get(i).getAsLong());
            }
        }
        var nowOccupied = new HashSet<>(occupied);
        nowOccupied.addAll(present);
        assertThat(RouteMetrics.choose(
                        base,
                        chosen.stream()
                                .map(metric -> metric.stream().boxed().toList())
                                .toList(),
                        nowOccupied))
                .isEqualTo(chosen);
    }

    @Provide
    Arbitrary<List<Long>> metrics() {
        return Arbitraries.oneOf(
                        Arbitraries.longs().between(0, 6).map(i -> 198 + i),
                        Arbitraries.of(0L, 100L, 512L, 1024L, Route.MAX_METRIC - 1, Route.MAX_METRIC))
                .list()
                .ofMaxSize(5);
    }

    @Provide
    Arbitrary<List<List<Long>>> inForce() {
        return metrics().list().ofMaxSize(4);
    }
}
