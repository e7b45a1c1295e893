package io.erdma.plugin;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Files that agents of this kind leave on a node when they end without cleaning up. Only looks; nothing is removed here. */
public final class Leftovers {
    /** Far above what a spec of ours has. */
    private static final int MAX_SPEC_BYTES = 1 << 20;

    private final SocketDirectory sockets;
    private final Path spec;

    /**
     * @param kubeletRoot usually {@code /var/lib/kubelet}
     * @param cdiDirectory where the agent writes its CDI spec
     */
    public Leftovers(Path kubeletRoot, Path cdiDirectory) {
        this.sockets = new SocketDirectory(kubeletRoot, "");
        this.spec = cdiDirectory.resolve(CdiSpecFile.FILE_NAME);
    }

    /** Sockets of agents that run. */
    public List<Path> liveSockets() throws IOException {
        return sockets.live();
    }

    /** Sockets named like an agent's on which nobody listens. */
    public List<Path> staleSockets() throws IOException {
        return sockets.stale();
    }

    /** What CDI specs were to become of, of agents that were killed while they wrote. */
    public List<Path> unfinishedSpecs() throws IOException {
        return CdiSpecFile.unfinished(spec.getParent());
    }

    /** The CDI spec, if there is one and an agent wrote it. */
    public Optional<Path> cdiSpec() throws IOException {
        if (!Files.isRegularFile(spec, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        try (InputStream file = Files.newInputStream(spec)) {
            String text = new String(file.readNBytes(MAX_SPEC_BYTES), StandardCharsets.UTF_8);
            return CdiSpec.isOurs(text) ? Optional.of(spec) : Optional.empty();
        }
    }
}
