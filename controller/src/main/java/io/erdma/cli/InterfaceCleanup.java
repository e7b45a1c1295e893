package io.erdma.cli;

import io.erdma.libc.Errno;
import io.erdma.node.net.CleanupPlan;
import io.erdma.node.net.InterfaceConfigurer;
import io.erdma.node.net.NetChange;
import io.erdma.node.net.Plan;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Of the network namespace that this program runs in. */
final class InterfaceCleanup implements NetworkCleanup {
    @Override
    public Outcome run() throws IOException {
        try (InterfaceConfigurer configurer = InterfaceConfigurer.open()) {
            Plan plan = CleanupPlan.of(configurer.found());
            InterfaceConfigurer.Outcome outcome = configurer.apply(plan.changes());
            List<String> left = new ArrayList<>();
            plan.notes().forEach(note -> left.add(note.toString()));
            outcome.failures().forEach(failure -> left.add(describe(failure)));
            return new Outcome(
                    outcome.made().stream().map(InterfaceCleanup::removed).toList(), left);
        }
    }

    private static String removed(NetChange change) {
        return change.describe().replaceFirst("^delete ", "");
    }

    private static String describe(InterfaceConfigurer.Failure failure) {
        if (failure.errno() != Errno.EPERM && failure.errno() != Errno.EACCES) {
            return failure.message();
        }
        return "cannot " + failure.change().describe() + ": the kernel answered " + Errno.describe(failure.errno())
                + ". Run this as root with CAP_NET_ADMIN, in the host's network namespace.";
    }
}
