package io.erdma.libc;

import com.kenai.jffi.Library;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import jnr.ffi.LibraryLoader;

/** A C library of this process: opened and its symbols looked up at once, so that what is missing shows at start. */
public final class NativeLibrary {
    /** The function that a {@link NativeException} names when JNR's own native part can't be loaded. */
    public static final String STUB = "System.load";

    private static final String OPEN = "dlopen";
    private static final String LOOK_UP = "dlsym";

    private final String name;
    private final Library library;

    private NativeLibrary(String name, Library library) {
        this.name = name;
        this.library = library;
    }

    /**
     * @param name a soname or an absolute path
     * @throws NativeException whose message is one line: why the library, or JNR's own native part, can't be loaded
     */
    public static NativeLibrary open(String name) throws NativeException {
        Library library;
        try {
            library = Library.getCachedInstance(name, Library.NOW | Library.LOCAL);
        } catch (LinkageError e) {
            // jffi unpacks its stub at its first use; the message holds the reason, then the whole stack as text.
            throw NativeException.unusableLibrary(
                    STUB,
                    name,
                    "JNR's native stub could not be loaded (" + firstLine(e) + "). Give java.io.tmpdir a writable "
                            + "directory that is not mounted noexec, or set -Djffi.boot.library.path to a directory "
                            + "that holds libjffi-1.2.so");
        }
        if (library == null) {
            throw NativeException.unusableLibrary(OPEN, name, Library.getLastError());
        }
        return new NativeLibrary(name, library);
    }

    public boolean has(String symbol) {
        return library.getSymbolAddress(symbol) != 0;
    }

    /** Binds an interface of C signatures; each of its abstract methods must be a symbol of the library. */
    public <T> T bind(Class<T> signatures) throws NativeException {
        for (Method method : signatures.getMethods()) {
            if (Modifier.isAbstract(method.getModifiers()) && !has(method.getName())) {
                throw NativeException.unusableLibrary(LOOK_UP, name, name + " has no symbol " + method.getName());
            }
        }
        try {
            return LibraryLoader.create(signatures).failImmediately().load(name);
        } catch (LinkageError e) {
            throw NativeException.unusableLibrary(OPEN, name, firstLine(e));
        }
    }

    private static String firstLine(Throwable e) {
        String message = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        String line = message.lines().findFirst().orElse(e.getClass().getSimpleName());
        // jffi prefixes its message with the class of the exception it caught.
        return line.replaceFirst("^[\\w.]+(Error|Exception): ", "");
    }
}
