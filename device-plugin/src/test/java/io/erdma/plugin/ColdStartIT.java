package io.erdma.plugin;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A few of the starts of {@link ColdStarts}; each takes twenty seconds, since a tenth of a core is not much. */
class ColdStartIT {
    @TempDir
    private Path root;

    /** R03: the options and the first list within a second. */
    @Test
    void answersTheKubeletThatDialsBackInsideRegisterFromAColdStartOnATenthOfACore() throws Exception {
        try (FakeKubelet kubelet = FakeKubelet.start(root)) {
            new ColdStarts(root, kubelet).run(2);
        }
    }
}
