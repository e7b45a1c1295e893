package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

import io.erdma.inventory.NodePaths;
import io.erdma.log.Log;
import io.erdma.log.Log.Field;
import io.erdma.node.driver.DriverPlan.Action;
import io.erdma.node.driver.DriverPlan.Step;
import io.erdma.plugin.BackOff;
import io.erdma.pods.PodShares;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Brings the driver into the preferred mode and keeps an eye on it: at start, when asked, and on a timer that is quick
 * while something is to be done. A switch takes the devices away from nobody: it waits until they are free. See DESIGN.md
 * of this package.
 */
public final class DriverKeeper implements AutoCloseable {
    private static final Log LOG = Log.of(DriverKeeper.class);
    private static final String THREAD = "erdma-driver";

    /** A switch that has begun is brought to its end where that is near; the module is gone in the middle of it. */
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(3);

    private final DriverSettings settings;
    private final DriverFactsReader reader;
    private final KernelModules modules;
    private final Optional<DriverInstaller> installer;
    private final DeviceHold hold;
    private final Pace pace;
    private final InstantSource clock;
    private final Thread thread;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private boolean asked;
    private boolean closing;
    private volatile Optional<DriverStatus> status = Optional.empty();

    // ---- of the thread alone ----

    private final Set<String> triedCompanions = new HashSet<>();

    /** Since the driver last was as it should be, so that a driver that can't get there does not fill the log. */
    private final Set<String> told = new HashSet<>();

    private final Tries switches;
    private final Tries loads;
    private final Tries installations;

    /** What the last try ended with, until one succeeds. */
    private Optional<String> failure = Optional.empty();

    /** Why the last switch was broken off, until the next is tried. */
    private Optional<String> notNow = Optional.empty();

    private int expectedDevices;

    /**
     * @param steady between two looks while all is well
     * @param soon between two looks while something is pending
     * @param firstBackOff before a switch or an installation is tried again; doubles from there, since each try takes the
     *     devices away for seconds, or the processors for minutes. Where there is no driver to take away, loading it is
     *     tried again as soon as something is pending is looked at, and as late as the steady look
     * @param longestBackOff where the doubling ends
     * @param suspend for our own contexts to close
     * @param settle the kubelet's time to hear that no share can be used, before the last look at who uses one
     * @param devices for the devices to come back
     * @param poll between two looks at what nothing notifies of
     */
    record Pace(
            Duration steady,
            Duration soon,
            Duration firstBackOff,
            Duration longestBackOff,
            Duration suspend,
            Duration settle,
            Duration devices,
            Duration poll) {
        static final Pace STANDARD = new Pace(
                Duration.ofMinutes(5),
                Duration.ofSeconds(30),
                Duration.ofMinutes(1),
                Duration.ofHours(1),
                Duration.ofSeconds(10),
                Duration.ofSeconds(1),
                Duration.ofSeconds(60),
                Duration.ofMillis(100));
    }

    /** Why a switch was broken off before anything was unloaded: no fault. */
    private static final class NotNowException extends Exception {
        private static final long serialVersionUID = 1L;

        NotNowException(String message) {
            super(message);
        }
    }

    /** When something may be tried again. */
    private static final class Tries {
        private final BackOff backOff;
        private long notBeforeNanos = System.nanoTime();

        Tries(Duration first, Duration longest) {
            this.backOff = new BackOff(first, longest);
        }

        boolean due() {
            return System.nanoTime() - notBeforeNanos >= 0;
        }

        void dueNow() {
            notBeforeNanos = System.nanoTime();
        }

        Duration later() {
            Duration wait = backOff.next();
            notBeforeNanos = System.nanoTime() + wait.toNanos();
            return wait;
        }

        void reset() {
            backOff.reset();
            dueNow();
        }
    }

    DriverKeeper(
            DriverSettings settings,
            DriverFactsReader reader,
            KernelModules modules,
            Optional<DriverInstaller> installer,
            DeviceHold hold,
            Pace pace,
            InstantSource clock) {
        this.settings = requireNonNull(settings, "settings is null");
        this.reader = requireNonNull(reader, "reader is null");
        this.modules = requireNonNull(modules, "modules is null");
        this.installer = requireNonNull(installer, "installer is null");
        this.hold = requireNonNull(hold, "hold is null");
        this.pace = requireNonNull(pace, "pace is null");
        this.switches = new Tries(pace.firstBackOff(), pace.longestBackOff());
        this.loads = new Tries(pace.soon(), pace.steady());
        this.installations = new Tries(pace.firstBackOff(), pace.longestBackOff());
        this.clock = requireNonNull(clock, "clock is null");
        this.thread = Thread.ofPlatform().daemon().name(THREAD).unstarted(this::run);
    }

    /** The keeper of this node's driver, not started yet. */
    public static DriverKeeper of(DriverSettings settings, NodePaths paths, PodShares shares, DeviceHold hold) {
        Path proc = Path.of("/proc");
        HostCommands host = HostCommands.find(proc);
        var reader = new DriverFactsReader(
                paths,
                proc,
                host,
                OpenContexts::byNetlink,
                shares::list,
                ProcessHandle.current().pid(),
                settings.manage());
        return new DriverKeeper(
                settings,
                reader,
                new KernelModules(host),
                settings.installer().map(wanted -> new DriverInstaller(wanted, host, proc)),
                hold,
                Pace.STANDARD,
                Clock.systemUTC());
    }

    public void start() {
        thread.start();
    }

    /** As last read; empty until the first look is done. */
    public Optional<DriverStatus> status() {
        return status;
    }

    /** Looks at the driver now; what failed before is tried again without waiting. Does not wait for it. */
    public void checkNow() {
        lock.lock();
        try {
            asked = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** From now on nothing is begun, and no switch goes beyond its last look at who uses the devices. Does not wait. */
    public void stop() {
        lock.lock();
        try {
            closing = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Leaves the driver as it is. A switch under way is waited for, up to three seconds. */
    @Override
    public void close() {
        stop();
        try {
            if (thread.isAlive() && !thread.join(CLOSE_WITHIN)) {
                LOG.warn("the driver is still being worked on; the agent stops all the same");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        Duration wait = Duration.ZERO;
        while (pauseUntilAsked(wait)) {
            try {
                wait = check();
            } catch (RuntimeException e) {
                LOG.error("the look at the driver failed; it is repeated", e);
                wait = pace.soon();
            }
        }
    }

    /** @return how long all can be left as it is */
    Duration check() {
        DriverFacts facts = reader.read(settings.preference());
        DriverPlan plan = plan(facts);
        tell(plan);
        if (plan.action() instanceof Action.Nothing) {
            List.of(switches, loads, installations).forEach(Tries::reset);
            succeeded();
        }
        Optional<Tries> tries = tries(plan.action());
        if (tries.isPresent() && tries.get().due()) {
            publish(facts, plan);
            // What was missing already before another try is still missed.
            expectedDevices = Math.max(
                    failure.isPresent() ? expectedDevices : 0, facts.devices().size());
            tryTo(plan, tries.get());
            facts = reader.read(settings.preference());
            plan = plan(facts);
        }
        loadCompanions(plan);
        publish(facts, plan);
        boolean steady = plan.action() instanceof Action.Nothing && failure.isEmpty() && notNow.isEmpty();
        return steady ? pace.steady() : pace.soon();
    }

    private DriverPlan plan(DriverFacts facts) {
        return DriverPlan.of(settings.preference(), facts, installer.isPresent());
    }

    /** Empty where there is nothing to do for us. */
    private Optional<Tries> tries(Action action) {
        return switch (action) {
            case Action.Switch _ -> Optional.of(switches);
            case Action.Load _ -> Optional.of(loads);
            case Action.Install _ -> Optional.of(installations);
            case Action.Nothing _, Action.Pending _, Action.Blocked _ -> Optional.empty();
        };
    }

    private void tryTo(DriverPlan plan, Tries tries) {
        notNow = Optional.empty();
        try {
            act(plan);
            tries.reset();
            succeeded();
            triedCompanions.clear();
        } catch (NotNowException e) {
            // The devices were out of use for a moment; users that come and go must not make that a habit.
            Duration _ = tries.later();
            notNow = Optional.of(e.getMessage());
            if (isNews("pending " + plan.mode())) {
                LOG.info(e.getMessage());
            }
        } catch (IOException e) {
            Duration wait = tries.later();
            failure = Optional.of(e.getMessage());
            if (isNews("failed " + e.getMessage())) {
                LOG.error(e.getMessage(), Field.of("triedAgainInSeconds", wait.toSeconds()));
            }
        }
    }

    private void succeeded() {
        failure = Optional.empty();
        notNow = Optional.empty();
    }

    /** Once for each new state of affairs; who uses a device may change often and stands in the status. */
    private void tell(DriverPlan plan) {
        Field mode = Field.of("mode", plan.mode());
        switch (plan.action()) {
            case Action.Nothing nothing -> {
                boolean news = !told.equals(Set.of(withoutNumbers(nothing.reason())));
                told.clear();
                told.add(withoutNumbers(nothing.reason()));
                if (news) {
                    LOG.info(plan.describe(), mode);
                }
            }
            case Action.Blocked blocked -> {
                if (isNews(blocked.reason())) {
                    LOG.warn(blocked.reason(), mode);
                }
            }
            case Action.Pending pending -> {
                if (isNews("pending " + plan.mode())) {
                    LOG.info(pending.reason(), mode);
                }
            }
            case Action.Load _, Action.Switch _, Action.Install _ -> {
                if (isNews(plan.describe())) {
                    LOG.info(plan.describe(), mode);
                }
            }
        }
    }

    private boolean isNews(String what) {
        return told.add(withoutNumbers(what));
    }

    /** Process ids, bytes and seconds are others each time. */
    private static String withoutNumbers(String text) {
        return text.replaceAll("[0-9]+", "#");
    }

    private void publish(DriverFacts facts, DriverPlan plan) {
        Optional<String> pending = notNow;
        Optional<String> problem = failure;
        if (plan.action() instanceof Action.Pending waiting) {
            pending = Optional.of(waiting.reason());
        }
        if (plan.action() instanceof Action.Blocked blocked) {
            problem = Optional.of(blocked.reason());
        }
        if (facts.devices().size() >= expectedDevices) {
            expectedDevices = 0;
        } else if (problem.isEmpty()) {
            problem = Optional.of(comeBack(facts.devices().size()));
        }
        status = Optional.of(new DriverStatus(
                plan.mode(),
                settings.preference().isEmpty(),
                ModeInForce.of(facts.module(), plan.mode()),
                plan.describe(),
                plan.isDue() && pending.isEmpty(),
                pending,
                problem,
                facts.users().describe(),
                clock.instant()));
    }

    private String comeBack(int found) {
        return found + " of " + expectedDevices + " RDMA devices came back after the driver was loaded again; see the"
                + " kernel's log (dmesg)";
    }

    // ---- doing ----

    private void act(DriverPlan plan) throws IOException, NotNowException {
        switch (plan.action()) {
            case Action.Load load -> load(load.compatMode());
            case Action.Switch change -> change(change);
            case Action.Install _ -> {
                installer.orElseThrow().install(plan.mode());
                DriverFacts now = reader.read(settings.preference());
                if (now.module() instanceof DriverModule.Absent && !(now.file() instanceof ModuleFile.Found)) {
                    throw new IOException(
                            "the driver's installer ended well, but the host still has no module erdma for"
                                    + " its kernel " + now.kernel() + "; see the installer's log on the host");
                }
                // It may have loaded the module in a mode of its own choice.
                checkNow();
            }
            case Action.Nothing _, Action.Pending _, Action.Blocked _ ->
                throw new IllegalStateException("nothing to do: " + plan.describe());
        }
    }

    private void load(Optional<Boolean> compatMode) throws IOException {
        modules.load(DriverFactsReader.MODULE, parameters(compatMode));
        compatMode.ifPresent(wanted -> LOG.info("loaded erdma", Field.of(DriverPlan.COMPAT_MODE, yesOrNo(wanted))));
        if (compatMode.isPresent()) {
            verify(compatMode.get());
        }
    }

    private void change(Action.Switch change) throws IOException, NotNowException {
        try {
            for (Step step : change.steps()) {
                take(step, change);
            }
        } finally {
            // Also what failed must not leave the node's devices out of use; twice does no harm.
            hold.resume();
        }
    }

    private void take(Step step, Action.Switch change) throws IOException, NotNowException {
        switch (step) {
            case SUSPEND -> suspend("driver mode switches from " + change.from() + " to " + change.to());
            case LOOK_AGAIN -> lookAgain(change);
            case UNLOAD -> unload();
            case LOAD -> loadOrGoBack(change);
            case VERIFY -> verify(change.to().compatMode());
            case AWAIT_DEVICES -> awaitDevices(change);
            case RESUME -> hold.resume();
        }
    }

    private void suspend(String reason) throws IOException {
        hold.suspend(reason);
        if (!hold.awaitSuspended(pace.suspend())) {
            throw new IOException("cannot switch the driver's mode: a verbs context of this agent did not close within "
                    + pace.suspend().toSeconds() + " s; does a device hang? See the kernel's log (dmesg)");
        }
    }

    private void lookAgain(Action.Switch change) throws NotNowException {
        if (!pause(pace.settle(), () -> false)) {
            throw new NotNowException("the agent stops; the driver's mode stays " + change.from());
        }
        DriverPlan now = plan(reader.read(settings.preference()));
        if (!now.action().equals(change)) {
            throw new NotNowException(now.describe());
        }
    }

    /** What the last look did not see yet keeps the module from being unloaded: that is no fault either. */
    private void unload() throws IOException, NotNowException {
        try {
            modules.unload(DriverFactsReader.MODULE);
        } catch (HostCommands.FailedException e) {
            DriverFacts now = reader.read(settings.preference());
            if (now.module() instanceof DriverModule.Loaded
                    && plan(now).action() instanceof Action.Pending(String reason)) {
                throw new NotNowException(reason);
            }
            throw e;
        }
    }

    private void loadOrGoBack(Action.Switch change) throws IOException {
        try {
            modules.load(
                    DriverFactsReader.MODULE, parameters(Optional.of(change.to().compatMode())));
        } catch (HostCommands.FailedException e) {
            String failed = "cannot load erdma for mode " + change.to() + ": " + e.getMessage();
            try {
                modules.load(
                        DriverFactsReader.MODULE,
                        parameters(Optional.of(change.from().compatMode())));
            } catch (HostCommands.FailedException again) {
                throw new IOException(
                        failed + ". Nor could it be loaded again for mode " + change.from() + ": " + again.getMessage()
                                + ". The node has no eRDMA until erdma is loaded",
                        again);
            }
            throw new IOException(failed + ". It was loaded again for mode " + change.from(), e);
        }
    }

    private void verify(boolean wanted) throws IOException {
        DriverModule now = reader.module();
        boolean right =
                now instanceof DriverModule.Loaded loaded && loaded.compatMode().equals(Optional.of(wanted));
        if (!right) {
            String found = switch (now) {
                case DriverModule.Absent _ -> "is not loaded";
                case DriverModule.Changing changing -> "is " + changing.state();
                case DriverModule.Loaded loaded ->
                    "has " + DriverPlan.COMPAT_MODE + "="
                            + loaded.compatMode().map(DriverKeeper::yesOrNo).orElse("none");
            };
            throw new IOException("modprobe reported success, but erdma " + found + " and not "
                    + DriverPlan.COMPAT_MODE + "=" + yesOrNo(wanted)
                    + "; did somebody else load it, or does /etc/modprobe.d replace the command?");
        }
    }

    private void awaitDevices(Action.Switch change) {
        boolean _ = pause(pace.devices(), () -> reader.readyDevices().size() >= expectedDevices);
        int found = reader.readyDevices().size();
        if (found >= expectedDevices) {
            LOG.info(
                    "switched the driver's mode",
                    Field.of("from", change.from()),
                    Field.of("to", change.to()),
                    Field.of("devices", found));
        } else {
            LOG.error(comeBack(found));
        }
    }

    private void loadCompanions(DriverPlan plan) {
        if (tries(plan.action()).isPresent()) {
            return;
        }
        for (String module : plan.companions()) {
            if (!triedCompanions.add(module)) {
                continue;
            }
            try {
                modules.load(module, Map.of());
                LOG.info("loaded a module that goes with the driver", Field.of("module", module));
            } catch (HostCommands.FailedException e) {
                LOG.info(
                        "a module that goes with the driver could not be loaded; eRDMA works without: "
                                + e.getMessage(),
                        Field.of("module", module));
            }
        }
    }

    private static Map<String, String> parameters(Optional<Boolean> compatMode) {
        return compatMode.map(on -> Map.of(DriverPlan.COMPAT_MODE, yesOrNo(on))).orElse(Map.of());
    }

    private static String yesOrNo(boolean on) {
        return on ? "Y" : "N";
    }

    // ---- waiting ----

    /** @return false when the agent stops */
    private boolean pauseUntilAsked(Duration time) {
        lock.lock();
        try {
            boolean goOn = await(time, time, () -> asked);
            if (asked) {
                asked = false;
                List.of(switches, loads, installations).forEach(Tries::dueNow);
            }
            return goOn;
        } finally {
            lock.unlock();
        }
    }

    /** Until the time is up or a condition holds, which is looked at again and again; @return false when the agent stops */
    private boolean pause(Duration time, BooleanSupplier enough) {
        lock.lock();
        try {
            return await(time, pace.poll(), enough);
        } finally {
            lock.unlock();
        }
    }

    private boolean await(Duration time, Duration step, BooleanSupplier enough) {
        long end = System.nanoTime() + time.toNanos();
        try {
            for (long left = time.toNanos(); left > 0 && !closing && !enough.getAsBoolean(); ) {
                long _ = changed.awaitNanos(Math.min(left, step.toNanos()));
                left = end - System.nanoTime();
            }
            return !closing;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
