package io.erdma.node.kube;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.OAuthTokenProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The service account's token as its file has it at this moment: the kubelet puts a new one there before the old one
 * ends, and requests are so few that each may look.
 */
record TokenFile(Path file) implements OAuthTokenProvider {
    @Override
    public String getToken() {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new KubernetesClientException("cannot read the service account's token " + file + ": "
                    + e.getClass().getSimpleName());
        }
    }
}
