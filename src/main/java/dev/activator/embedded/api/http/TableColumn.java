package dev.activator.embedded.api.http;

import dev.activator.embedded.api.store.Kind.PrinterColumn;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A column of the table that {@code kubectl get} prints.
 *
 * @param format {@code name} for the column with the object's name, else empty
 * @param priority if it is above 0, the column is only in wide tables
 */
record TableColumn(String name, String type, String format, int priority, Value value) {
  interface Value {
    String of(JsonNode object, Instant now);
  }

  static final TableColumn NAME = new TableColumn("Name", "string", "name", 0,
      (object, _) -> object.at("/metadata/name").asString(""));
  static final TableColumn AGE = new TableColumn("Age", "string", "", 0,
      (object, now) -> age(object.at("/metadata/creationTimestamp").stringValue(""), now));

  static TableColumn at(String name, String pointer) {
    return computed(name, object -> object.at(pointer).asString(""));
  }

  static TableColumn shown(String name, String pointer) {
    return computed(name, object -> orNone(object.at(pointer).asString("")));
  }

  static TableColumn computed(String name, Function<JsonNode, String> value) {
    return new TableColumn(name, "string", "", 0, (object, _) -> value.apply(object));
  }

  static TableColumn since(String name, String pointer) {
    return new TableColumn(name, "string", "", 0,
        (object, now) -> age(object.at(pointer).stringValue(""), now));
  }

  static TableColumn of(PrinterColumn column) {
    var path = ColumnPath.parse(column.path());
    var shown = column.type().equals("date")
        ? new TableColumn(column.name(), "string", "", 0,
            (object, now) -> age(path.textIn(object), now))
        : computed(column.name(), path::textIn);
    var typed = column.type().equals("integer") ? shown.number() : shown;
    return column.priority() > 0 ? typed.wide() : typed;
  }

  static String orNone(String text) {
    return text.isEmpty() ? "<none>" : text;
  }

  TableColumn wide() {
    return new TableColumn(name, type, format, 1, value);
  }

  TableColumn number() {
    return new TableColumn(name, "integer", format, priority, value);
  }

  void define(ObjectNode definition) {
    definition.put("name", name).put("type", type).put("format", format).put("description", name)
        .put("priority", priority);
  }

  void addCell(ArrayNode cells, JsonNode object, Instant now) {
    String text = value.of(object, now);
    if (type.equals("integer") && text.matches("-?\\d{1,18}")) {
      cells.add(Long.parseLong(text));
    } else {
      cells.add(text);
    }
  }

  private static String age(String timestamp, Instant now) {
    try {
      return timestamp.isEmpty()
          ? "<unknown>"
          : age(Duration.between(Instant.parse(timestamp), now));
    } catch (DateTimeException _) {
      return "<invalid>";
    }
  }

  /**
   * An age, as kubectl shows it.
   *
   * <p><b>Source.</b> {@code util/duration/duration.go} in Kubernetes' apimachinery.
   */
  static String age(Duration age) {
    long seconds = Math.max(0, age.toSeconds());
    long minutes = age.toMinutes();
    long hours = age.toHours();
    long days = age.toDays();
    if (seconds < 120) {
      return seconds + "s";
    }
    if (minutes < 10) {
      return both(minutes, "m", seconds % 60, "s");
    }
    if (minutes < 180) {
      return minutes + "m";
    }
    if (hours < 8) {
      return both(hours, "h", minutes % 60, "m");
    }
    if (hours < 48) {
      return hours + "h";
    }
    if (days < 8) {
      return both(days, "d", hours % 24, "h");
    }
    return days < 730 ? days + "d" : both(days / 365, "y", days % 365, "d");
  }

  private static String both(long large, String largeUnit, long small, String smallUnit) {
    return large + largeUnit + (small == 0 ? "" : small + smallUnit);
  }
}
