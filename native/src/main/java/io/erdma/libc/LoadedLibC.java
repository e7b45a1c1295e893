package io.erdma.libc;

/** Keeps the loaded C library, or why it could not be loaded. */
final class LoadedLibC {
    private static final String LIBRARY = "libc.so.6";
    private static final LoadedLibC ONCE = new LoadedLibC();

    private final LibC libc;
    private final String function;
    private final String problem;

    private LoadedLibC() {
        LibC loaded = null;
        String failed = "";
        String reason = "";
        try {
            loaded = NativeLibrary.open(LIBRARY).bind(LibC.class);
        } catch (NativeException e) {
            failed = e.function();
            reason = e.getMessage();
        }
        libc = loaded;
        function = failed;
        problem = reason;
    }

    static LibC get() throws NativeException {
        if (ONCE.libc == null) {
            throw NativeException.unusableLibrary(ONCE.function, LIBRARY, ONCE.problem);
        }
        return ONCE.libc;
    }
}
