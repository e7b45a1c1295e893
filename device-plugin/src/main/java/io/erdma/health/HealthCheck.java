package io.erdma.health;

import io.erdma.health.HealthRules.LinkView;
import io.erdma.health.HealthRules.Observation;
import io.erdma.inventory.InventorySnapshot;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.NodeSources;
import io.erdma.inventory.NodeSources.OpenDevice;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One look at the health of devices, for commands that don't stay. */
public final class HealthCheck {
    private HealthCheck() {}

    /**
     * Judges every device of the snapshot, selected or not, by the monitor's rules.
     *
     * @param patience for all drivers together
     */
    public static MonitorStatus once(InventorySnapshot snapshot, NodeSources sources, Clock clock, Duration patience) {
        DeviceProbe probe = new DeviceProbe(sources);
        List<CompletableFuture<ProbeResult>> asked = new ArrayList<>();
        for (Found found : snapshot.devices()) {
            CompletableFuture<ProbeResult> answer = new CompletableFuture<>();
            asked.add(answer);
            String name = found.device().name();
            // A daemon of its own for each, since any of them may hang in its driver.
            Thread.ofPlatform().daemon().name("erdma-probe-" + name).start(() -> {
                try {
                    DeviceProbe.Outcome outcome = probe.ask(name, Optional.empty(), Optional.empty());
                    answer.complete(outcome.result());
                    outcome.context().ifPresent(OpenDevice::close);
                } catch (RuntimeException e) {
                    answer.completeExceptionally(e);
                }
            });
        }

        LinkTable links = new LinkTable();
        snapshot.links().ifPresent(dump -> links.merge(dump, System.nanoTime()));
        long end = System.nanoTime() + patience.toNanos();
        List<MonitorStatus.DeviceStatus> statuses = new ArrayList<>();
        for (int i = 0; i < asked.size(); i++) {
            Found found = snapshot.devices().get(i);
            statuses.add(judge(
                    found,
                    snapshot,
                    await(asked.get(i), end - System.nanoTime()),
                    links.view(found.device()),
                    clock,
                    patience));
        }
        return new MonitorStatus(
                statuses,
                snapshot.sources(),
                Optional.of(clock.instant()),
                snapshot.netnsMode(),
                snapshot.rdmaCm(),
                Optional.empty(),
                List.of(),
                Optional.empty());
    }

    private static Optional<ProbeResult> await(CompletableFuture<ProbeResult> answer, long nanos) {
        try {
            return Optional.of(answer.get(Math.max(1, nanos), TimeUnit.NANOSECONDS));
        } catch (TimeoutException e) {
            return Optional.empty();
        } catch (ExecutionException e) {
            return Optional.of(new ProbeResult.Failed("could not be asked: " + e.getCause(), false));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    private static MonitorStatus.DeviceStatus judge(
            Found found,
            InventorySnapshot snapshot,
            Optional<ProbeResult> result,
            LinkView link,
            Clock clock,
            Duration patience) {
        Optional<ProbeResult> answer = result.filter(it -> !(it instanceof ProbeResult.Unanswered));
        Optional<String> silence = result.filter(ProbeResult.Unanswered.class::isInstance)
                .map(it -> HealthRules.describe((ProbeResult.Unanswered) it));
        Duration age = result.isEmpty() ? patience.plusNanos(1) : Duration.ZERO;
        Observation seen = new Observation(
                found.device(),
                found.uverbsPresent(),
                snapshot.rdmaCm().isPresent(),
                snapshot.netnsMode(),
                link,
                answer,
                age,
                silence,
                Optional.empty());
        Optional<ProbeResult.Answered> answered =
                answer.filter(ProbeResult.Answered.class::isInstance).map(ProbeResult.Answered.class::cast);
        return new MonitorStatus.DeviceStatus(
                found.device(),
                HealthRules.judge(seen, patience, Optional.empty(), clock.instant()),
                answered.map(ProbeResult.Answered::state),
                answer.flatMap(ProbeResult::toldBy),
                result.map(ProbeResult::unused).orElse(List.of()));
    }
}
