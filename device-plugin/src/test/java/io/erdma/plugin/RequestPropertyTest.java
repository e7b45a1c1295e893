package io.erdma.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.device.AdvertisedDevices;
import io.erdma.device.RdmaCmUse;
import io.erdma.plugin.Allocation.DeviceNode;
import io.erdma.plugin.Allocation.Granted;
import io.erdma.plugin.Allocation.Malformed;
import io.erdma.plugin.Allocation.NotReady;
import io.erdma.plugin.Allocation.Unknown;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Whatever is asked, the answer is a grant or a refusal, and the preference keeps its promises. */
class RequestPropertyTest {
    private static final PluginSettings SETTINGS = Offers.settings();

    @Property(tries = 400)
    void anyRequestIsGrantedOrRefused(
            @ForAll("offers") AdvertisedDevices offer,
            @ForAll("requests") List<String> ids,
            @ForAll boolean allDevices,
            @ForAll CdiMode cdi,
            @ForAll int absent) {
        PluginSettings settings =
                Offers.settings(200, allDevices, cdi, PluginSettings.DEFAULT_CDI_DIRECTORY, allDevices);
        Predicate<Path> exists = path -> (path.hashCode() & absent & 7) == 0;
        CdiNames names = name -> (name.hashCode() & absent & 1) == 0;
        Allocator allocator = new Allocator(settings);
        Allocation answer = allocator.allocate(ids, offer, exists, names);
        assertThat(allocator.allocate(ids, offer, exists, names)).isEqualTo(answer);
        switch (answer) {
            case Granted granted -> {
                assertThat(granted.nodes())
                        .extracting(DeviceNode::containerPath)
                        .doesNotHaveDuplicates();
                assertThat(granted.nodes()).extracting(DeviceNode::hostPath).allMatch(exists);
                assertThat(granted.cdiDevices()).doesNotHaveDuplicates().allMatch(names::resolvable);
                assertThat(granted.nodes().size() + granted.cdiDevices().size()).isPositive();
                List<String> shuffled = new ArrayList<>(ids);
                Collections.shuffle(shuffled, new Random(absent));
                assertThat(allocator.allocate(shuffled, offer, exists, names)).isEqualTo(answer);
            }
            case Malformed refused -> assertThat(refused.message()).isNotBlank();
            case Unknown refused -> assertThat(refused.message()).isNotBlank();
            case NotReady refused -> assertThat(refused.message()).isNotBlank();
        }
    }

    @Property(tries = 400)
    void preferenceKeepsItsPromisesForAnyRequest(
            @ForAll("offers") AdvertisedDevices offer,
            @ForAll @Size(max = 300) List<@From("anyIds") String> available,
            @ForAll @Size(max = 4) List<@From("anyIds") String> must,
            @ForAll @IntRange(min = -3, max = 400) int size,
            @ForAll long seed) {
        List<String> answer = choose(available, must, size, offer);
        Set<String> all = new HashSet<>(available);
        all.addAll(must);
        assertThat(answer).doesNotHaveDuplicates().containsAll(must).allMatch(all::contains);
        assertThat(answer).hasSize(Math.max(new HashSet<>(must).size(), Math.max(0, Math.min(size, all.size()))));
        List<String> shuffled = new ArrayList<>(available);
        Collections.shuffle(shuffled, new Random(seed));
        assertThat(choose(shuffled, must, size, offer)).isEqualTo(answer);
    }

    @Property(tries = 400)
    void preferenceSpreadsAsEvenlyAsTheOfferAllows(
            @ForAll @Size(min = 1, max = 200) List<@From("shareIds") String> available,
            @ForAll @IntRange(min = 1, max = 60) int size) {
        AdvertisedDevices offer = Offers.offerOf(4);
        Map<String, Long> chosen = perDevice(choose(available, List.of(), size, offer));
        Map<String, Long> offered = perDevice(new HashSet<>(available));
        long most = Collections.max(chosen.values());
        // A device may only have two fewer than another if it has no more to give.
        offered.forEach((device, count) ->
                assertThat(chosen.getOrDefault(device, 0L)).isGreaterThanOrEqualTo(Math.min(count, most - 1)));
    }

    @Property(tries = 50)
    void hugeRequestsAreAnswered(@ForAll @IntRange(min = 1, max = 20_000) int ids, @ForAll boolean ours) {
        List<String> available = new ArrayList<>();
        for (int i = 0; i < ids; i++) {
            available.add(ours ? "erdma_" + i % 3 + "/" + i : "x".repeat(i % 100) + i);
        }
        assertThat(choose(available, List.of(), ids, Offers.offerOf(3))).hasSize(ids);
        assertThat(new Allocator(SETTINGS).allocate(available, Offers.offerOf(3), path -> true, CdiNames.NONE))
                .isNotNull();
    }

    private static List<String> choose(List<String> available, List<String> must, int size, AdvertisedDevices offer) {
        return new PreferredAllocation(SETTINGS).choose(available, must, size, offer);
    }

    private static Map<String, Long> perDevice(Collection<String> ids) {
        return ids.stream()
                .collect(Collectors.groupingBy(id -> id.substring(0, id.indexOf('/')), Collectors.counting()));
    }

    /** Half of them well-formed, since one bad id refuses all. */
    @Provide
    Arbitrary<List<String>> requests() {
        return Arbitraries.oneOf(
                shareIds().set().ofMaxSize(8).map(List::copyOf), anyIds().list().ofMaxSize(20));
    }

    @Provide
    Arbitrary<String> shareIds() {
        return Arbitraries.integers()
                .between(0, 3)
                .flatMap(device ->
                        Arbitraries.integers().between(0, 199).map(number -> "erdma_" + device + "/" + number));
    }

    @Provide
    Arbitrary<String> anyIds() {
        return Arbitraries.frequencyOf(
                Tuple.of(12, shareIds()),
                Tuple.of(1, Arbitraries.strings().ofMaxLength(100)),
                Tuple.of(1, Arbitraries.strings().withChars("erdma_/0123-+ ").ofMaxLength(12)));
    }

    @Provide
    Arbitrary<AdvertisedDevices> offers() {
        Arbitrary<Boolean> healthy = Arbitraries.of(true, true, false);
        Arbitrary<Integer> node = Arbitraries.of(-1, 0, 1);
        Arbitrary<RdmaCmUse> use = Arbitraries.of(RdmaCmUse.values());
        return Combinators.combine(
                        healthy.list().ofSize(4),
                        node.list().ofSize(4),
                        use.list().ofSize(4))
                .as((health, nodes, uses) -> {
                    List<AdvertisedDevices.Entry> entries = new ArrayList<>();
                    for (int i = 0; i < 4; i++) {
                        OptionalInt numaNode = nodes.get(i) < 0 ? OptionalInt.empty() : OptionalInt.of(nodes.get(i));
                        entries.add(new AdvertisedDevices.Entry(
                                Offers.device(i, numaNode, uses.get(i)), health.get(i) ? Offers.HEALTHY : Offers.DOWN));
                    }
                    return new AdvertisedDevices(entries, Optional.of(Offers.RDMA_CM));
                });
    }
}
