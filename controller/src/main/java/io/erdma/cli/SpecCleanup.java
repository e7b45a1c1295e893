package io.erdma.cli;

import io.erdma.plugin.Leftovers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The CDI specification, and what was to become one. */
final class SpecCleanup implements Leftover {
    private final Leftovers leftovers;

    SpecCleanup(Leftovers leftovers) {
        this.leftovers = leftovers;
    }

    @Override
    public String name() {
        return "the CDI specification";
    }

    @Override
    public boolean podsNeedIt() {
        return false;
    }

    @Override
    public Result remove() throws IOException {
        List<Path> files = new ArrayList<>(leftovers.unfinishedSpecs());
        leftovers.cdiSpec().ifPresent(files::add);
        return FileCleanup.remove("CDI specification", files);
    }
}
