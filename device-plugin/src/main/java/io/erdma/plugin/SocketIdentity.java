package io.erdma.plugin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Optional;

/**
 * Tells one socket file from the next of the same name.
 *
 * @param inode device and inode number; alone it is not enough, since tmpfs and ext4 give a freed number out again
 * @param created the birth time, or where the file system keeps none the last modification, which for a socket is the same
 */
record SocketIdentity(Object inode, FileTime created) {
    /** Empty when there is no file. */
    static Optional<SocketIdentity> of(Path socket) throws IOException {
        try {
            BasicFileAttributes attributes =
                    Files.readAttributes(socket, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return Optional.of(new SocketIdentity(attributes.fileKey(), attributes.creationTime()));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }
}
