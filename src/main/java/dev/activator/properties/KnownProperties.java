package dev.activator.properties;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The properties there are, as the compiler has written them down from the records.
 */
public final class KnownProperties {
  private static final String METADATA = "META-INF/spring-configuration-metadata.json";
  private static final String OURS = "activator.";
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private KnownProperties() {}

  /**
   * A property.
   *
   * @param description a sentence, or several
   * @param defaultValue as a text; empty for none
   */
  public record Known(String name, String type, String description, String defaultValue) {}

  /** Read once, when first asked for: each argument of a start is looked up here. */
  private static final class Once {
    private static final List<Known> ALL = find();
  }

  /** All of ours, by name. */
  public static List<Known> all() {
    return Once.ALL;
  }

  private static List<Known> find() {
    try {
      var known = new ArrayList<Known>();
      for (var url : Collections
          .list(KnownProperties.class.getClassLoader().getResources(METADATA))) {
        try (var in = url.openStream()) {
          JSON.readTree(in).path("properties").forEach(one -> {
            if (one.path("name").asString("").startsWith(OURS)) {
              known.add(read(one));
            }
          });
        }
      }
      known.sort(Comparator.comparing(Known::name));
      return List.copyOf(known);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static Known read(JsonNode one) {
    return new Known(one.path("name").asString(""), one.path("type").asString(""),
        one.path("description").asString("").strip().replaceAll("\\s+", " "),
        text(one.path("defaultValue")));
  }

  private static String text(JsonNode value) {
    if (value.isArray()) {
      return String.join(",", value.valueStream().map(item -> item.asString("")).toList());
    }
    return value.isMissingNode() ? "" : value.asString("");
  }
}
