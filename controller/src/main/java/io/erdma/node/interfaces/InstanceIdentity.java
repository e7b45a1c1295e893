package io.erdma.node.interfaces;

import static java.util.Objects.requireNonNull;

import java.util.Optional;

/** Which instance of the cloud this node is, as far as that is known. */
public sealed interface InstanceIdentity {
    /** @param source what told, for logs: "the Node object's providerID", "the metadata service" */
    record Known(String id, String source) implements InstanceIdentity {
        public Known {
            requireNonNull(source, "source is null");
            if (!isInstanceId(id)) {
                throw new IllegalArgumentException("not an instance id: " + id);
            }
        }
    }

    /** @param reason why nothing told it yet */
    record Unknown(String reason) implements InstanceIdentity {
        public Unknown {
            requireNonNull(reason, "reason is null");
        }
    }

    /** As the cloud writes them: {@code i-bp1abc}. */
    static boolean isInstanceId(String text) {
        return text.matches("i-[A-Za-z0-9]{1,64}");
    }

    /**
     * The instance in a Node object's {@code spec.providerID}, {@code <region>.<instance-id>}.
     *
     * @return empty when it is of another form, as that of another cloud is
     */
    static Optional<String> inProviderId(String providerId) {
        return Optional.of(providerId.substring(providerId.lastIndexOf('.') + 1))
                .filter(_ -> providerId.indexOf('.') > 0)
                .filter(InstanceIdentity::isInstanceId);
    }
}
