package io.erdma.charts;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Checks values against the part of an OpenAPI schema that our definitions use. A keyword that it does not know is a
 * mistake in the schema or here, and is refused.
 */
final class Schema {
    private final List<String> problems = new ArrayList<>();

    private Schema() {}

    /** What is wrong with a value, each with the place. */
    static List<String> problems(Map<String, Object> schema, Object value) {
        var check = new Schema();
        check.check(schema, value, "");
        return check.problems;
    }

    @SuppressWarnings("unchecked") // a schema is a tree of mappings, or the cast fails
    private void check(Map<String, Object> schema, Object value, String path) {
        if (value == null && Boolean.TRUE.equals(schema.get("nullable"))) {
            return;
        }
        schema.forEach((keyword, rule) -> {
            switch (keyword) {
                case "description", "nullable", "x-kubernetes-preserve-unknown-fields" -> {}
                case "type" -> require(isOfType(value, (String) rule), path, "is not of type " + rule);
                case "enum" -> require(((List<Object>) rule).contains(value), path, "is none of " + rule);
                case "pattern" ->
                    require(
                            value instanceof String text
                                    && Pattern.compile((String) rule)
                                            .matcher(text)
                                            .find(),
                            path,
                            "does not match " + rule);
                case "minimum" -> require(number(value) >= number(rule), path, "is less than " + rule);
                case "maximum" -> require(number(value) <= number(rule), path, "is more than " + rule);
                case "maxItems" ->
                    require(value instanceof List<?> list && list.size() <= number(rule), path, "has too many items");
                case "required" ->
                    ((List<String>) rule)
                            .forEach(name -> require(
                                    value instanceof Map<?, ?> map && map.containsKey(name), path, "lacks " + name));
                case "properties" ->
                    ((Map<String, Map<String, Object>>) rule).forEach((name, property) -> {
                        if (value instanceof Map<?, ?> map && map.containsKey(name)) {
                            check(property, map.get(name), path + "." + name);
                        }
                    });
                case "items" -> {
                    if (value instanceof List<?> list) {
                        for (int i = 0; i < list.size(); i++) {
                            check((Map<String, Object>) rule, list.get(i), path + "[" + i + "]");
                        }
                    }
                }
                default -> throw new IllegalArgumentException("unknown keyword " + keyword + " at " + path);
            }
        });
    }

    private void require(boolean holds, String path, String otherwise) {
        if (!holds) {
            problems.add(path + " " + otherwise);
        }
    }

    private static boolean isOfType(Object value, String type) {
        return switch (type) {
            case "object" -> value instanceof Map;
            case "array" -> value instanceof List;
            case "string" -> value instanceof String;
            case "boolean" -> value instanceof Boolean;
            case "integer" -> value instanceof Integer;
            default -> throw new IllegalArgumentException("unknown type " + type);
        };
    }

    private static double number(Object value) {
        return value instanceof Number number ? number.doubleValue() : Double.NaN;
    }
}
