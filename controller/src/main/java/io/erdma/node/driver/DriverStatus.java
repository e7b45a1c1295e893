package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * How the driver stands, for metrics, probes and people.
 *
 * @param preferred the mode to be in
 * @param chosenByNode whether that follows from the node, since nobody set a preference
 * @param plan what is to be done, or why nothing is, in one line
 * @param due whether that is to be done now
 * @param pending why that has to wait; absent when it need not
 * @param problem what failed or is out of our power, with what to do; absent when all is well
 * @param usedBy who uses the devices, in words; empty where the mode is right, whoever uses them
 * @param at when this was read
 */
public record DriverStatus(
        DriverMode preferred,
        boolean chosenByNode,
        ModeInForce inForce,
        String plan,
        boolean due,
        Optional<String> pending,
        Optional<String> problem,
        List<String> usedBy,
        Instant at) {
    public DriverStatus {
        requireNonNull(preferred, "preferred is null");
        requireNonNull(inForce, "inForce is null");
        requireNonNull(plan, "plan is null");
        requireNonNull(pending, "pending is null");
        requireNonNull(problem, "problem is null");
        usedBy = List.copyOf(usedBy);
        requireNonNull(at, "at is null");
    }
}
