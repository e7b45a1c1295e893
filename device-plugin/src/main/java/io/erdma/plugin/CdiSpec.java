package io.erdma.plugin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.erdma.device.AdvertisedDevices;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The node's devices as the Container Device Interface describes them to a container runtime. {@code rdma_cm} is a CDI
 * device of its own, so that a container with several RDMA devices gets it once. Health plays no part, so the text
 * changes only when a device comes, goes or gets another node.
 *
 * @param names the fully qualified names it defines
 * @param json the file's content
 */
public record CdiSpec(Set<String> names, String json) {
    public static final String KIND = "aliyun.com/erdma";

    /** The name that gives {@code /dev/infiniband/rdma_cm}. */
    public static final String RDMA_CM = KIND + "=rdma_cm";

    // The first version that knows hostPath; runtimes refuse a version newer than they are.
    private static final String VERSION = "0.5.0";
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9]([-_.:A-Za-z0-9]*[A-Za-z0-9])?");
    private static final JsonFactory JSON = new JsonFactory();

    public CdiSpec {
        names = Set.copyOf(names);
    }

    /** Empty when there is nothing to describe: runtimes take a spec without devices as an error. */
    public static Optional<CdiSpec> of(AdvertisedDevices offer) {
        List<RdmaDevice> devices = offer.devices().stream()
                .map(AdvertisedDevices.Entry::device)
                .filter(device -> device.uverbs().isPresent())
                .filter(device -> qualifiedName(device).isPresent())
                .toList();
        if (devices.isEmpty()) {
            return Optional.empty();
        }
        Optional<Path> rdmaCm =
                offer.rdmaCm().filter(path -> devices.stream().anyMatch(device -> device.rdmaCm() != RdmaCmUse.UNUSED));
        Set<String> names = new LinkedHashSet<>();
        StringWriter text = new StringWriter();
        try (JsonGenerator json = JSON.createGenerator(text)) {
            json.useDefaultPrettyPrinter();
            json.writeStartObject();
            json.writeStringField("cdiVersion", VERSION);
            json.writeStringField("kind", KIND);
            json.writeArrayFieldStart("devices");
            for (RdmaDevice device : devices) {
                names.add(KIND + "=" + device.name());
                write(json, device.name(), device.uverbs().get());
            }
            if (rdmaCm.isPresent()) {
                names.add(RDMA_CM);
                write(json, "rdma_cm", rdmaCm.get());
            }
            json.writeEndArray();
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException("a StringWriter does no I/O", e);
        }
        return Optional.of(new CdiSpec(names, text + "\n"));
    }

    /** Empty when the device's name can't be one in CDI, since it would make the whole spec invalid. */
    public static Optional<String> qualifiedName(RdmaDevice device) {
        String name = KIND + "=" + device.name();
        return NAME.matcher(device.name()).matches() && !name.equals(RDMA_CM) ? Optional.of(name) : Optional.empty();
    }

    /** Whether a file's text is a spec of ours, however old; anything else of that name belongs to somebody else. */
    static boolean isOurs(String text) {
        try (JsonParser json = JSON.createParser(text)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return false;
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                json.nextToken();
                if (name.equals("kind")) {
                    return KIND.equals(json.getValueAsString());
                }
                json.skipChildren();
            }
            return false;
        } catch (IOException e) {
            return false;
        }
    }

    private static void write(JsonGenerator json, String name, Path node) throws IOException {
        json.writeStartObject();
        json.writeStringField("name", name);
        json.writeObjectFieldStart("containerEdits");
        json.writeArrayFieldStart("deviceNodes");
        json.writeStartObject();
        json.writeStringField("path", Allocator.containerPath(node).toString());
        json.writeStringField("hostPath", node.toString());
        json.writeStringField("permissions", "rw");
        json.writeEndObject();
        json.writeEndArray();
        json.writeEndObject();
        json.writeEndObject();
    }
}
