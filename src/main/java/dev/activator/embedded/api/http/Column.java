package dev.activator.embedded.api.http;

import dev.activator.embedded.api.policy.Ages;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/**
 * One column of a table.
 *
 * @param name its heading
 * @param format {@code name} for the column that names the object, else empty
 * @param value what stands there for an object
 */
record Column(String name, String format, Value value) {
  /** What stands in a cell, given the object and the time. */
  interface Value {
    String of(JsonNode object, Instant now);
  }

  static final Column NAME = new Column("Name", "name",
      (object, _) -> object.at("/metadata/name").asString(""));
  static final Column AGE = new Column("Age", "",
      (object, now) -> age(object.at("/metadata/creationTimestamp").stringValue(""), now));

  /** A value found at a path, or empty. */
  static Column at(String name, String pointer) {
    return computed(name, object -> object.at(pointer).asString(""));
  }

  static Column computed(String name, Function<JsonNode, String> value) {
    return new Column(name, "", (object, _) -> value.apply(object));
  }

  String cell(JsonNode object, Instant now) {
    return value.of(object, now);
  }

  static String age(String timestamp, Instant now) {
    try {
      return timestamp.isEmpty()
          ? "<unknown>"
          : Ages.of(Duration.between(Instant.parse(timestamp), now));
    } catch (DateTimeException _) {
      return "<invalid>";
    }
  }
}
