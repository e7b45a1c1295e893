package io.erdma.node.kube;

import static java.util.Objects.requireNonNull;

import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What came of a request that writes. */
sealed interface WriteAnswer {
    /** @param count of an Event, as the API server has it now; 0 for other objects */
    record Written(int count) implements WriteAnswer {}

    /** An object of that name is there already. */
    record Exists() implements WriteAnswer {}

    /** The object, or its namespace, is not there. */
    record Gone() implements WriteAnswer {}

    /** The agent has no right to do it, so that the next of its kind will fare no better. */
    record Forbidden(String why) implements WriteAnswer {
        public Forbidden {
            requireNonNull(why, "why is null");
        }
    }

    /** The same request will never do. */
    record Refused(String why) implements WriteAnswer {
        public Refused {
            requireNonNull(why, "why is null");
        }
    }

    /** @param pause what the API server asks for, where it does */
    record Later(String why, Optional<Duration> pause) implements WriteAnswer {
        public Later {
            requireNonNull(why, "why is null");
            requireNonNull(pause, "pause is null");
        }
    }

    /**
     * What a failure means.
     *
     * @param why the same for people
     * @param pause that the API server asked for
     */
    static WriteAnswer of(KubernetesClientException failure, String why, Optional<Duration> pause) {
        int code = failure.getCode();
        return switch (code) {
            case 401, 408, 429 -> new Later(why, pause);
            case 403 -> terminating(failure) ? new Gone() : new Forbidden(why);
            case 404 -> new Gone();
            case 409 -> "AlreadyExists".equals(reason(failure)) ? new Exists() : new Later(why, pause);
            default -> code >= 400 && code < 500 ? new Refused(why) : new Later(why, pause);
        };
    }

    private static String reason(KubernetesClientException failure) {
        return Optional.ofNullable(failure.getStatus()).map(Status::getReason).orElse("");
    }

    /** A namespace that is being deleted takes nothing new, with the same code as a missing right. */
    private static boolean terminating(KubernetesClientException failure) {
        List<StatusCause> causes = Optional.ofNullable(failure.getStatus())
                .map(Status::getDetails)
                .map(details -> details.getCauses())
                .orElse(List.of());
        return causes.stream().anyMatch(cause -> "NamespaceTerminating".equals(cause.getReason()));
    }
}
