package io.erdma.node.driver;

import static java.util.Objects.requireNonNull;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.zip.GZIPInputStream;

/**
 * Unpacks an installer's .tar.gz (ustar, with GNU's and pax's long names). It holds files, directories and links within
 * it, of a bounded number and size, or it is refused: a right checksum proves who made it, not that it fits on this disk.
 * No set-user-ID bits and owners are taken over. The directory must be ours alone.
 */
final class InstallerArchive {
    private static final int BLOCK = 512;

    /** PATH_MAX is 4096; a pax header has a few of those. */
    private static final int MAX_EXTENSION = 64 << 10;

    private static final int MAX_DEPTH = 64;

    // Where a header's fields are.
    private static final int NAME = 0;
    private static final int MODE = 100;
    private static final int SIZE = 124;
    private static final int MTIME = 136;
    private static final int CHECKSUM = 148;
    private static final int TYPE = 156;
    private static final int LINK = 157;
    private static final int MAGIC = 257;
    private static final int PREFIX = 345;

    /**
     * @param bytes of all files together
     * @param entries files, directories and links
     */
    record Limits(long bytes, int entries) {
        static final Limits STANDARD = new Limits(4L << 30, 100_000);
    }

    private final InputStream tar;
    private final Path root;
    private final Limits limits;
    private final byte[] header = new byte[BLOCK];
    private long bytes;
    private int entries;

    private InstallerArchive(InputStream tar, Path root, Limits limits) {
        this.tar = tar;
        this.root = root;
        this.limits = limits;
    }

    /** @throws IOException with what is wrong with the archive; what was unpacked by then stays */
    static void unpack(Path archive, Path directory, Limits limits) throws IOException {
        requireNonNull(limits, "limits is null");
        try (InputStream file = new BufferedInputStream(Files.newInputStream(archive), 64 << 10);
                InputStream tar = new BufferedInputStream(new GZIPInputStream(file, 64 << 10), 64 << 10)) {
            new InstallerArchive(tar, directory, limits).unpackAll();
        } catch (EOFException e) {
            throw new IOException("the archive ends early", e);
        } catch (InvalidPathException e) {
            throw new IOException("the archive has a name that cannot be written here: " + shown(e.getInput()), e);
        }
    }

    private void unpackAll() throws IOException {
        Map<String, String> extended = new HashMap<>();
        while (readHeader()) {
            char type = (char) (header[TYPE] & 0xff);
            long size = number(SIZE, 12);
            switch (type) {
                case 'L' -> extended.put("path", extension(size));
                case 'K' -> extended.put("linkpath", extension(size));
                case 'x' -> readRecords(extension(size), extended);
                // Of pax, for all that follow: comments, as git writes them.
                case 'g' -> extension(size);
                default -> {
                    unpackOne(type, size, extended);
                    extended.clear();
                }
            }
        }
    }

    /** @return false at the end of the archive */
    private boolean readHeader() throws IOException {
        fill(header, BLOCK);
        boolean empty = true;
        int sum = 0;
        for (int i = 0; i < BLOCK; i++) {
            empty &= header[i] == 0;
            sum += i >= CHECKSUM && i < CHECKSUM + 8 ? ' ' : header[i] & 0xff;
        }
        if (empty) {
            return false;
        }
        if (sum != number(CHECKSUM, 8)) {
            throw new IOException("the archive is damaged, or not a .tar.gz: a header's checksum is wrong");
        }
        return true;
    }

    private void unpackOne(char type, long headerSize, Map<String, String> extended) throws IOException {
        String name = extended.containsKey("path") ? extended.get("path") : headerName();
        String link = extended.containsKey("linkpath") ? extended.get("linkpath") : text(LINK, 100);
        long size = extended.containsKey("size") ? parse(extended.get("size"), 10) : headerSize;
        entries++;
        if (entries > limits.entries()) {
            throw new IOException("the archive has more than " + limits.entries() + " entries");
        }
        Path path = within(name);
        if (path.equals(root)) {
            skip(type == '5' ? 0 : size);
            return;
        }
        switch (type) {
            case '0', '\0', '7' -> {
                if (name.endsWith("/")) {
                    makeDirectory(path);
                } else {
                    writeFile(path, name, size);
                }
            }
            case '5' -> makeDirectory(path);
            case '1' -> {
                Path target = within(link);
                requireRealDirectories(target.getParent());
                if (!Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)) {
                    throw new IOException("the archive links " + shown(name) + " to " + shown(link) + ", which is no"
                            + " file of its own");
                }
                makeRoomFor(path);
                Files.createLink(path, target);
            }
            case '2' -> {
                requireInside(path, name, link);
                makeRoomFor(path);
                Files.createSymbolicLink(path, Path.of(link));
            }
            default ->
                throw new IOException("the archive holds " + shown(name) + " of the tar type '" + shown("" + type)
                        + "'; only files, directories and links are unpacked");
        }
    }

    private void writeFile(Path path, String name, long size) throws IOException {
        if (size > limits.bytes() - bytes) {
            throw new IOException(
                    "the archive has files of more than " + limits.bytes() + " bytes (at " + shown(name) + ")");
        }
        bytes += size;
        makeRoomFor(path);
        // CREATE_NEW follows no link.
        try (OutputStream file = Files.newOutputStream(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            byte[] chunk = new byte[64 << 10];
            for (long left = size; left > 0; ) {
                int read = tar.read(chunk, 0, (int) Math.min(left, chunk.length));
                if (read < 0) {
                    throw new EOFException();
                }
                file.write(chunk, 0, read);
                left -= read;
            }
        }
        skipPadding(size);
        Files.setPosixFilePermissions(path, permissions(number(MODE, 8)));
        // make goes by it.
        Files.setLastModifiedTime(path, FileTime.from(Instant.ofEpochSecond(number(MTIME, 12))));
    }

    private static Set<PosixFilePermission> permissions(long mode) {
        Set<PosixFilePermission> all = new HashSet<>(PosixFilePermissions.fromString("rw-r--r--"));
        if ((mode & 0100) != 0) {
            all.addAll(PosixFilePermissions.fromString("--x--x--x"));
        }
        return all;
    }

    // ---- places ----

    /** @throws IOException when the name leads out of the directory */
    private Path within(String name) throws IOException {
        if (name.startsWith("/") || name.isEmpty() || hasParts(name, "..")) {
            throw new IOException("the archive has an entry named " + shown(name) + ", which leads out of it");
        }
        Path path = root.resolve(name).normalize();
        if (path.getNameCount() - root.getNameCount() > MAX_DEPTH) {
            throw new IOException("the archive has directories deeper than " + MAX_DEPTH);
        }
        return path;
    }

    private static boolean hasParts(String name, String part) {
        return ("/" + name + "/").contains("/" + part + "/");
    }

    /** Upwards only at its beginning, where the directories are real ones; behind another link, ".." leads anywhere. */
    private void requireInside(Path path, String name, String link) throws IOException {
        String behind = link.replaceFirst("^(\\.\\.?/+)*", "");
        boolean inside = !link.startsWith("/")
                && !link.isEmpty()
                && (behind.equals("..") || !hasParts(behind, ".."))
                && path.getParent().resolve(link).normalize().startsWith(root);
        if (!inside) {
            throw new IOException(
                    "the archive links " + shown(name) + " to " + shown(link) + ", which leads out of it");
        }
    }

    private void makeDirectory(Path path) throws IOException {
        for (Path one = root; !one.equals(path); ) {
            one = one.resolve(path.getName(one.getNameCount()));
            if (!Files.isDirectory(one, LinkOption.NOFOLLOW_LINKS)) {
                // Where something else is, it says so.
                Files.createDirectory(
                        one, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
            }
        }
    }

    private void requireRealDirectories(Path path) throws IOException {
        for (Path one = root; !one.equals(path); ) {
            one = one.resolve(path.getName(one.getNameCount()));
            if (!Files.isDirectory(one, LinkOption.NOFOLLOW_LINKS)) {
                throw new IOException("the archive goes through "
                        + shown(root.relativize(one).toString()) + ", which is no directory of its own");
            }
        }
    }

    /** Of two entries with one name the later counts. */
    private void makeRoomFor(Path path) throws IOException {
        makeDirectory(path.getParent());
        Files.deleteIfExists(path);
    }

    // ---- headers ----

    private String headerName() {
        String name = text(NAME, 100);
        boolean posix = text(MAGIC, 6).equals("ustar") && header[MAGIC + 5] == 0;
        String prefix = posix ? text(PREFIX, 155) : "";
        return prefix.isEmpty() ? name : prefix + "/" + name;
    }

    /** Records such as "30 mtime=1350244992.023960108\n", whose length is in bytes and counts itself. */
    private static void readRecords(String records, Map<String, String> into) throws IOException {
        byte[] all = records.getBytes(StandardCharsets.UTF_8);
        for (int at = 0; at < all.length; ) {
            int blank = at;
            while (blank < all.length && all[blank] != ' ') {
                blank++;
            }
            long length = parse(new String(all, at, blank - at, StandardCharsets.UTF_8), 10);
            if (length <= blank - at + 1 || length > all.length - at) {
                throw new IOException("the archive is damaged: a pax header's length is wrong");
            }
            String record = new String(all, blank + 1, (int) length - (blank + 1 - at), StandardCharsets.UTF_8);
            int equals = record.indexOf('=');
            if (equals > 0) {
                into.put(
                        record.substring(0, equals),
                        record.substring(equals + 1).stripTrailing());
            }
            at += (int) length;
        }
    }

    private String extension(long size) throws IOException {
        if (size > MAX_EXTENSION) {
            throw new IOException("the archive is damaged: a name of " + size + " bytes");
        }
        byte[] text = new byte[(int) size];
        fill(text, text.length);
        skipPadding(size);
        return new String(text, StandardCharsets.UTF_8).replaceFirst("\0+$", "");
    }

    private String text(int offset, int length) {
        int end = offset;
        while (end < offset + length && header[end] != 0) {
            end++;
        }
        return new String(header, offset, end - offset, StandardCharsets.UTF_8);
    }

    /** Octal digits, or GNU's big-endian number with its first bit set. */
    private long number(int offset, int length) throws IOException {
        if ((header[offset] & 0x80) == 0) {
            return parse(text(offset, length).strip(), 8);
        }
        long number = header[offset] & 0x7f;
        for (int i = offset + 1; i < offset + length; i++) {
            if (number > Long.MAX_VALUE >> 9) {
                throw new IOException("the archive is damaged: a number is too large");
            }
            number = (number << 8) | (header[i] & 0xff);
        }
        return number;
    }

    private static long parse(String digits, int radix) throws IOException {
        try {
            long number = digits.isEmpty() ? 0 : Long.parseLong(digits, radix);
            return Optional.of(number).filter(any -> any >= 0).orElseThrow(() -> new NumberFormatException(digits));
        } catch (NumberFormatException e) {
            throw new IOException("the archive is damaged: " + shown(digits) + " is no number", e);
        }
    }

    private static String shown(String text) {
        String plain = text.replaceAll("[^ -~]", "?");
        return plain.length() > 200 ? plain.substring(0, 200) + "…" : plain;
    }

    // ---- bytes ----

    private void fill(byte[] into, int length) throws IOException {
        if (tar.readNBytes(into, 0, length) < length) {
            throw new EOFException();
        }
    }

    private void skip(long size) throws IOException {
        tar.skipNBytes(size);
        skipPadding(size);
    }

    private void skipPadding(long size) throws IOException {
        tar.skipNBytes((BLOCK - size % BLOCK) % BLOCK);
    }
}
