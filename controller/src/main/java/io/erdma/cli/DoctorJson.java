package io.erdma.cli;

import io.erdma.doctor.Finding;
import io.erdma.doctor.Report;
import io.erdma.doctor.Verdict;
import java.io.IOException;
import java.util.Locale;

/** The report for programs; keys, check ids and verdict words are stable. */
final class DoctorJson {
    private DoctorJson() {}

    static String format(Report report) throws IOException {
        return Json.object(generator -> {
            generator.writeStringField(
                    "side",
                    report.vantage().side().name().toLowerCase(Locale.ROOT).replace('_', '-'));
            generator.writeStringField("sideBecause", report.vantage().why());
            generator.writeNumberField("exitCode", report.exitCode());
            generator.writeObjectFieldStart("summary");
            generator.writeNumberField("failed", report.count(Verdict.FAIL));
            generator.writeNumberField("warnings", report.count(Verdict.WARN));
            generator.writeNumberField("passed", report.count(Verdict.PASS));
            generator.writeNumberField("notSeen", report.count(Verdict.NOT_SEEN));
            generator.writeNumberField("skipped", report.count(Verdict.SKIPPED));
            generator.writeEndObject();
            generator.writeArrayFieldStart("findings");
            for (Report.Row row : report.rows()) {
                Finding finding = row.finding();
                generator.writeStartObject();
                generator.writeStringField("check", row.check().id());
                generator.writeStringField("title", row.check().title());
                Json.string(generator, "subject", finding.subject());
                generator.writeStringField("verdict", finding.verdict().word());
                generator.writeStringField("statement", finding.statement());
                generator.writeArrayFieldStart("evidence");
                for (String line : finding.evidence()) {
                    generator.writeString(line);
                }
                generator.writeEndArray();
                Json.string(generator, "next", finding.next());
                generator.writeBooleanField("matters", finding.matters());
                generator.writeEndObject();
            }
            generator.writeEndArray();
        });
    }
}
