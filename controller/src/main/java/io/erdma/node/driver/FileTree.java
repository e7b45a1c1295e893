package io.erdma.node.driver;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.BasicFileAttributeView;

/** Deletes directories that others may write to. */
final class FileTree {
    private static final int MAX_DEPTH = 256;

    private FileTree() {}

    /**
     * With all that is in it. Goes by open directories and never by paths, so that a link that somebody puts in place of
     * a directory meanwhile is deleted itself, and not what it leads to.
     *
     * @throws IOException when something could not be deleted; the rest stays with it
     */
    static void delete(Path directory) throws IOException {
        try (DirectoryStream<Path> parent = Files.newDirectoryStream(directory.getParent())) {
            delete(secure(parent), directory.getFileName(), 0);
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    private static void delete(SecureDirectoryStream<Path> in, Path name, int depth) throws IOException {
        if (depth > MAX_DEPTH) {
            throw new IOException("directories deeper than " + MAX_DEPTH + ", at " + name);
        }
        try {
            boolean directory = in.getFileAttributeView(name, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .readAttributes()
                    .isDirectory();
            if (!directory) {
                in.deleteFile(name);
                return;
            }
            try (SecureDirectoryStream<Path> inner = in.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS)) {
                for (Path entry : inner) {
                    delete(inner, entry.getFileName(), depth + 1);
                }
            }
            in.deleteDirectory(name);
        } catch (NoSuchFileException e) {
            // Somebody was faster.
            return;
        }
    }

    private static SecureDirectoryStream<Path> secure(DirectoryStream<Path> stream) throws IOException {
        if (stream instanceof SecureDirectoryStream<Path> secure) {
            return secure;
        }
        throw new IOException("this file system offers no way to delete safely");
    }
}
