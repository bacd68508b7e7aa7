package dev.activator.app.properties;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
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

  /** One file has all of ours; those of libraries, many times as long, come after it. */
  private static List<Known> find() {
    try {
      for (var url : Collections
          .list(KnownProperties.class.getClassLoader().getResources(METADATA))) {
        var ours = oursIn(url);
        if (!ours.isEmpty()) {
          return ours;
        }
      }
      throw new IllegalStateException("no " + METADATA + " names a property of " + OURS);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static List<Known> oursIn(URL url) throws IOException {
    try (var in = url.openStream()) {
      return JSON.readTree(in).path("properties").valueStream()
          .filter(one -> one.path("name").asString("").startsWith(OURS)).map(KnownProperties::read)
          .sorted(Comparator.comparing(Known::name)).toList();
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
