package io.erdma.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import io.erdma.sysfs.SysfsCounters.PortCounters;
import io.erdma.traffic.CounterReading;
import io.erdma.traffic.TrafficCounters;
import io.erdma.traffic.TrafficRates;
import io.erdma.traffic.TrafficTotals;
import io.erdma.traffic.TrafficTotals.Direction;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * {@code erdma stat --json}. Programs read it, so keys may be added but not changed. Bytes, packets and drops are unsigned
 * 64-bit totals since the driver was loaded, rates are per second, and what can't be told is null.
 *
 * <pre>
 * devices[]   name, received, sent, bytesOfNetdev, ports[]
 *   received, sent   bytes, packets, bandwidthDrops, packetRateDrops, otherDrops
 *   ports[]          port, hwCounters{}, counters{}, unreadable{}
 * </pre>
 *
 * With {@code -l} each line is an object: device, received and sent (bytesPerSecond, packetsPerSecond), bandwidthDrops and
 * packetRateDrops (since the line before), bytesOfNetdev.
 */
final class StatJson {
    private static final int DIGITS_BEHIND_THE_POINT = 2;

    private StatJson() {}

    /** Writes {@code "devices": […]} into an open object. */
    static void devices(JsonGenerator generator, List<CounterReading> readings) throws IOException {
        generator.writeArrayFieldStart("devices");
        for (CounterReading reading : readings) {
            TrafficTotals totals = TrafficCounters.of(reading);
            generator.writeStartObject();
            generator.writeStringField("name", reading.device());
            direction(generator, "received", totals.received());
            direction(generator, "sent", totals.sent());
            Json.string(generator, "bytesOfNetdev", totals.carrier());
            generator.writeArrayFieldStart("ports");
            for (PortCounters port : reading.ports()) {
                port(generator, port);
            }
            generator.writeEndArray();
            generator.writeEndObject();
        }
        generator.writeEndArray();
    }

    private static void port(JsonGenerator generator, PortCounters port) throws IOException {
        generator.writeStartObject();
        generator.writeNumberField("port", port.port());
        counters(generator, "hwCounters", port.hardware());
        counters(generator, "counters", port.standard());
        generator.writeObjectFieldStart("unreadable");
        for (Map.Entry<String, String> entry : port.unreadable().entrySet()) {
            generator.writeStringField(entry.getKey(), entry.getValue());
        }
        generator.writeEndObject();
        generator.writeEndObject();
    }

    private static void counters(JsonGenerator generator, String key, Map<String, Long> counters) throws IOException {
        generator.writeObjectFieldStart(key);
        for (Map.Entry<String, Long> counter : counters.entrySet()) {
            generator.writeFieldName(counter.getKey());
            generator.writeNumber(unsigned(counter.getValue()));
        }
        generator.writeEndObject();
    }

    private static void direction(JsonGenerator generator, String key, Direction direction) throws IOException {
        generator.writeObjectFieldStart(key);
        number(generator, "bytes", direction.bytes());
        number(generator, "packets", direction.packets());
        number(generator, "bandwidthDrops", direction.bandwidthDrops());
        number(generator, "packetRateDrops", direction.packetRateDrops());
        number(generator, "otherDrops", direction.otherDrops());
        generator.writeEndObject();
    }

    private static void number(JsonGenerator generator, String key, OptionalLong value) throws IOException {
        generator.writeFieldName(key);
        if (value.isPresent()) {
            generator.writeNumber(unsigned(value.getAsLong()));
        } else {
            generator.writeNull();
        }
    }

    private static BigInteger unsigned(long value) {
        return new BigInteger(Long.toUnsignedString(value));
    }

    /** One line. */
    static String live(String device, TrafficTotals totals, TrafficRates rates) throws IOException {
        return Json.line(generator -> {
            generator.writeStringField("device", device);
            rate(generator, "received", rates.received());
            rate(generator, "sent", rates.sent());
            generator.writeNumberField("bandwidthDrops", rates.bandwidthDrops());
            generator.writeNumberField("packetRateDrops", rates.packetRateDrops());
            Json.string(generator, "bytesOfNetdev", totals.carrier());
        });
    }

    private static void rate(JsonGenerator generator, String key, TrafficRates.Rate rate) throws IOException {
        generator.writeObjectFieldStart(key);
        decimal(generator, "bytesPerSecond", rate.bytes());
        decimal(generator, "packetsPerSecond", rate.packets());
        generator.writeEndObject();
    }

    private static void decimal(JsonGenerator generator, String key, OptionalDouble value) throws IOException {
        generator.writeFieldName(key);
        if (value.isPresent()) {
            generator.writeNumber(BigDecimal.valueOf(value.getAsDouble())
                    .setScale(DIGITS_BEHIND_THE_POINT, RoundingMode.HALF_UP)
                    .toPlainString());
        } else {
            generator.writeNull();
        }
    }
}
