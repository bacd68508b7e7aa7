package dev.activator.config;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * A value that a user wrote in JSON or YAML, with its path.
 *
 * <p><b>Errors.</b> {@link IllegalArgumentException}, that names the path and what the value must
 * be.
 *
 * @param value a map, a list, a text, a number or a boolean; null if it is absent
 */
public record ConfigValue(String path, @Nullable Object value) {
  private static final int MAX_QUOTE_LENGTH = 60;

  private static final class Yaml {
    private static final YAMLMapper MAPPER = YAMLMapper.builder()
        .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();
  }

  /** Parses YAML, which includes JSON. */
  public static ConfigValue parse(String path, String text) {
    try {
      return new ConfigValue(path, Yaml.MAPPER.readValue(new StringReader(text), Object.class));
    } catch (JacksonException e) {
      var at = e.getLocation();
      throw new IllegalArgumentException(path + " is not YAML" + (at == null
          ? ""
          : ", line " + at.getLineNr() + ", column " + at.getColumnNr()) + ": "
          + e.getOriginalMessage().lines().findFirst().orElse(""), e);
    }
  }

  public boolean isAbsent() {
    return value == null;
  }

  public IllegalArgumentException mustBe(String expected) {
    var text = value instanceof String ? "\"" + value + "\"" : String.valueOf(value);
    return new IllegalArgumentException(path + " must be " + expected + (value == null
        ? ""
        : ", not " + (text.length() <= MAX_QUOTE_LENGTH
            ? text
            : text.substring(0, MAX_QUOTE_LENGTH) + "…")));
  }

  /** Returns this value if it is an object without other fields than these. */
  public ConfigValue object(String... names) {
    if (!(value instanceof Map<?, ?> map)) {
      throw mustBe("an object");
    }
    var known = new TreeSet<>(Set.of(names));
    for (var key : map.keySet()) {
      var name = String.valueOf(key);
      if (!known.contains(name)) {
        var nearest = SpellingSuggester.nearest(name, known);
        throw new IllegalArgumentException(path + " has no field " + name
            + (nearest == null ? "" : "; the nearest is " + nearest));
      }
    }
    return this;
  }

  /** A field of an object; may be absent. */
  public ConfigValue field(String name) {
    return new ConfigValue(path + "." + name,
        value instanceof Map<?, ?> map ? map.get(name) : null);
  }

  /** The elements of a list; empty if it is absent. */
  public List<ConfigValue> items(int max) {
    if (value == null) {
      return List.of();
    }
    if (!(value instanceof List<?> list) || list.size() > max) {
      throw mustBe("a list of at most " + max);
    }
    var items = new ArrayList<ConfigValue>(list.size());
    for (int i = 0; i < list.size(); i++) {
      items.add(new ConfigValue(path + "[" + i + "]", list.get(i)));
    }
    return items;
  }

  /** The text; null if it is absent. */
  public @Nullable String text(int maxLength) {
    if (value == null) {
      return null;
    }
    if (!(value instanceof String text) || text.length() > maxLength) {
      throw mustBe("text of at most " + maxLength + " characters");
    }
    return text;
  }

  /** Like {@link #text}, but only characters that a header may contain. */
  public @Nullable String headerText(int maxLength) {
    var text = text(maxLength);
    if (text != null && !text.chars().allMatch(c -> c >= ' ' && c < 0x7f)) {
      throw mustBe("printable ASCII");
    }
    return text;
  }

  public int number(int min, int max, int absent) {
    if (value == null) {
      return absent;
    }
    if (value instanceof Integer number && number >= min && number <= max) {
      return number;
    }
    throw mustBe("a whole number from " + min + " to " + max);
  }

  public boolean truth() {
    if (value == null) {
      return false;
    }
    if (value instanceof Boolean truth) {
      return truth;
    }
    throw mustBe("true or false");
  }
}
