package io.erdma.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import io.erdma.cli.DeviceReading.Answered;
import io.erdma.cli.DeviceReading.Port;
import io.erdma.cli.NodeExplanation.Device;
import io.erdma.cli.NodeExplanation.DriverKind;
import io.erdma.device.DeviceHealth;
import io.erdma.device.Netdev;
import io.erdma.device.RdmaCmUse;
import io.erdma.device.RdmaDevice;
import io.erdma.inventory.InventorySnapshot.Found;
import io.erdma.inventory.SourceStatus;
import io.erdma.netlink.Link;
import io.erdma.netlink.MacAddress;
import io.erdma.netlink.RdmaNetlink.NetnsMode;
import io.erdma.verbs.DeviceAttributes;
import io.erdma.verbs.GidEntry;
import io.erdma.verbs.PortAttributes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * {@code erdma devinfo --json}. Programs read it, so keys and words may be added but not changed:
 *
 * <pre>
 * devices[]  name, advertised, rule, driver{name, kind, compatMode}, nodeType, nodeGuid, pciAddress, numaNode,
 *            netdev{name, index, mac, up, carrier, mtu} or null, uverbs{path, present}, rdmaCm,
 *            health{state, reason}, verbs{listed, missingBecause, opened, problem},
 *            attributes{firmware, vendorId, vendorPartId, hwVersion, boardId, maxQp, completionVectors} or null,
 *            portState, portStateSource, ports[]{number, state, linkLayer, maxMtu, activeMtu, gidTableLength},
 *            gids[]{port, index, gid, type, linkLocal, address}
 * node       netnsMode, compatMode, rdmaCm, sources[]{source, usable, problem}
 * </pre>
 */
final class ExplainJson {
    private ExplainJson() {}

    static String format(NodeExplanation explanation) throws IOException {
        return Json.object(json -> {
            json.writeArrayFieldStart("devices");
            for (Device device : explanation.devices()) {
                json.writeStartObject();
                device(json, device, explanation.compatMode());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeObjectFieldStart("node");
            node(json, explanation);
            json.writeEndObject();
        });
    }

    private static void node(JsonGenerator json, NodeExplanation explanation) throws IOException {
        Json.string(json, "netnsMode", explanation.netnsMode().map(ExplainJson::netnsMode));
        bool(json, "compatMode", explanation.compatMode());
        Json.string(json, "rdmaCm", explanation.rdmaCm().map(Path::toString));
        json.writeArrayFieldStart("sources");
        for (SourceStatus status : explanation.sources()) {
            json.writeStartObject();
            json.writeStringField("source", ExplainFormat.name(status.source()));
            json.writeBooleanField("usable", status.usable());
            Json.string(json, "problem", status.problem());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void device(JsonGenerator json, Device device, Optional<Boolean> compatMode) throws IOException {
        Found found = device.found();
        RdmaDevice rdma = found.device();
        json.writeStringField("name", rdma.name());
        json.writeBooleanField("advertised", found.selected());
        json.writeStringField("rule", found.why());
        json.writeObjectFieldStart("driver");
        json.writeStringField("name", rdma.driver());
        json.writeStringField("kind", driverKind(device.driver()));
        bool(json, "compatMode", device.driver() == DriverKind.OTHER ? Optional.empty() : compatMode);
        json.writeEndObject();
        json.writeStringField("nodeType", rdma.nodeType().name());
        json.writeStringField("nodeGuid", rdma.nodeGuid().toString());
        Json.string(json, "pciAddress", rdma.pciAddress());
        Json.number(json, "numaNode", rdma.numaNode());
        netdev(json, rdma.netdev(), device.link());
        json.writeObjectFieldStart("uverbs");
        Json.string(json, "path", rdma.uverbs().map(Path::toString));
        json.writeBooleanField("present", found.uverbsPresent());
        json.writeEndObject();
        json.writeStringField("rdmaCm", rdmaCm(rdma.rdmaCm()));
        health(json, device.health());
        json.writeObjectFieldStart("verbs");
        json.writeBooleanField("listed", found.inVerbs());
        Json.string(json, "missingBecause", found.missingFromVerbs());
        json.writeBooleanField(
                "opened", device.reading().filter(DeviceReading::isOpened).isPresent());
        Json.string(json, "problem", device.reading().flatMap(DeviceReading::problem));
        json.writeEndObject();
        Optional<Answered> answered = device.reading()
                .map(DeviceReading::outcome)
                .flatMap(outcome -> outcome instanceof Answered full ? Optional.of(full) : Optional.empty());
        attributes(json, answered);
        Json.string(json, "portState", device.portState().map(Enum::name));
        Json.string(json, "portStateSource", device.portSource().map(ExplainFormat::name));
        ports(json, answered.map(Answered::ports).orElse(List.of()));
        gids(json, device);
    }

    private static void netdev(JsonGenerator json, Optional<Netdev> netdev, Optional<Link> link) throws IOException {
        if (netdev.isEmpty()) {
            json.writeNullField("netdev");
            return;
        }
        json.writeObjectFieldStart("netdev");
        json.writeStringField("name", netdev.get().name());
        json.writeNumberField("index", netdev.get().index());
        Json.string(json, "mac", netdev.get().mac().map(MacAddress::toString));
        bool(json, "up", link.map(Link::isUp));
        bool(json, "carrier", link.map(Link::hasCarrier));
        if (link.isPresent()) {
            json.writeNumberField("mtu", link.get().mtu());
        } else {
            json.writeNullField("mtu");
        }
        json.writeEndObject();
    }

    private static void health(JsonGenerator json, Optional<DeviceHealth> health) throws IOException {
        json.writeObjectFieldStart("health");
        Json.string(json, "state", health.map(known -> known.isHealthy() ? "healthy" : "unhealthy"));
        Json.string(
                json,
                "reason",
                health.flatMap(known -> known instanceof DeviceHealth.Unhealthy unhealthy
                        ? Optional.of(unhealthy.reason())
                        : Optional.empty()));
        json.writeEndObject();
    }

    private static void attributes(JsonGenerator json, Optional<Answered> answered) throws IOException {
        if (answered.isEmpty()) {
            json.writeNullField("attributes");
            return;
        }
        DeviceAttributes attributes = answered.get().attributes();
        json.writeObjectFieldStart("attributes");
        json.writeStringField("firmware", attributes.firmwareVersion());
        json.writeNumberField("vendorId", attributes.vendorId());
        json.writeNumberField("vendorPartId", attributes.vendorPartId());
        json.writeNumberField("hwVersion", attributes.hwVersion());
        Json.string(json, "boardId", answered.get().boardId());
        json.writeNumberField("maxQp", attributes.maxQp());
        json.writeNumberField("completionVectors", answered.get().completionVectors());
        json.writeEndObject();
    }

    private static void ports(JsonGenerator json, List<Port> ports) throws IOException {
        json.writeArrayFieldStart("ports");
        for (Port port : ports) {
            PortAttributes attributes = port.attributes();
            json.writeStartObject();
            json.writeNumberField("number", port.number());
            json.writeStringField("state", attributes.state().name());
            json.writeNumberField("linkLayer", attributes.linkLayer());
            mtu(json, "maxMtu", attributes.maxMtu());
            mtu(json, "activeMtu", attributes.activeMtu());
            json.writeNumberField("gidTableLength", attributes.gidTableLength());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    /** In bytes, unlike the enumeration it comes from. */
    private static void mtu(JsonGenerator json, String key, int number) throws IOException {
        if (number >= 1 && number <= 5) {
            json.writeNumberField(key, 128 << number);
        } else {
            json.writeNullField(key);
        }
    }

    private static void gids(JsonGenerator json, Device device) throws IOException {
        json.writeArrayFieldStart("gids");
        for (GidEntry entry : device.gids()) {
            json.writeStartObject();
            json.writeNumberField("port", entry.port());
            json.writeNumberField("index", entry.index());
            json.writeStringField("gid", GidText.groups(entry.gid()));
            json.writeStringField(
                    "type", ExplainFormat.name(entry, device.found().device().nodeType()));
            json.writeBooleanField("linkLocal", GidText.isLinkLocal(entry.gid()));
            Json.string(
                    json,
                    "address",
                    entry.type() == GidEntry.Type.ROCE_V2
                            ? Optional.of(GidText.address(entry.gid()))
                            : Optional.empty());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void bool(JsonGenerator json, String key, Optional<Boolean> value) throws IOException {
        if (value.isPresent()) {
            json.writeBooleanField(key, value.get());
        } else {
            json.writeNullField(key);
        }
    }

    private static String netnsMode(NetnsMode mode) {
        return mode.name().toLowerCase(Locale.ROOT);
    }

    private static String driverKind(DriverKind kind) {
        return switch (kind) {
            case OUT_OF_TREE -> "out-of-tree";
            case MODE_UNKNOWN -> "mode-unknown";
            case OTHER -> "other";
        };
    }

    private static String rdmaCm(RdmaCmUse use) {
        return switch (use) {
            case REQUIRED -> "required";
            case IF_PRESENT -> "if-present";
            case UNUSED -> "unused";
        };
    }
}
