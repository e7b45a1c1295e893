package io.erdma.cli;

import io.erdma.libc.Errno;
import io.erdma.node.net.CleanupPlan;
import io.erdma.node.net.InterfaceConfigurer;
import io.erdma.node.net.Note;
import io.erdma.node.net.Plan;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

/** What the agent set up on the interfaces of this network namespace, by netlink. */
final class InterfaceCleanup implements Leftover {
    @Override
    public String name() {
        return "routes and addresses";
    }

    @Override
    public boolean podsNeedIt() {
        return true;
    }

    @Override
    public Result remove() throws IOException {
        try (InterfaceConfigurer configurer = InterfaceConfigurer.open()) {
            Plan plan = CleanupPlan.of(configurer.found());
            InterfaceConfigurer.Outcome outcome = configurer.apply(plan.changes());
            List<String> removed = outcome.made().stream()
                    .map(change -> change.describe().replaceFirst("^delete ", ""))
                    .toList();
            return new Result(
                    removed,
                    Stream.concat(
                                    plan.notes().stream().map(Note::toString),
                                    outcome.failures().stream().map(InterfaceCleanup::describe))
                            .toList());
        }
    }

    private static String describe(InterfaceConfigurer.Failure failure) {
        if (failure.errno() != Errno.EPERM && failure.errno() != Errno.EACCES) {
            return failure.message();
        }
        return "cannot " + failure.change().describe() + ": the kernel answered " + Errno.describe(failure.errno())
                + ". Run this as root with CAP_NET_ADMIN, in the host's network namespace.";
    }
}
