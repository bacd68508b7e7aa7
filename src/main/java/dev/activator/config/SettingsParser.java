package dev.activator.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads typed values from a map of settings, such as a ConfigMap, and collects problems. For an
 * invalid value it returns the default, so that the other values are checked, too.
 */
public final class SettingsParser {
  /** The words that Go's {@code strconv.ParseBool} accepts. */
  private static final Set<String> TRUE = Set.of("1", "t", "T", "TRUE", "true", "True");
  private static final Set<String> FALSE = Set.of("0", "f", "F", "FALSE", "false", "False");

  private static final Pattern DECIMAL = Pattern.compile("[0-9.eE+-]+");

  private static final Pattern ENDPOINT = Pattern.compile("(https?://)?([^/@\\s]*@)?"
      + "(\\[[0-9a-fA-F:.%]+]|[^\\s:/?#@\\[\\]]+)(:\\d{1,5})?(/\\S*)?");

  private final Map<String, String> data;
  private final List<String> problems = new ArrayList<>();

  public SettingsParser(Map<String, String> data) {
    this.data = data;
  }

  public List<String> problems() {
    return problems;
  }

  void problem(String sentence) {
    problems.add(sentence);
  }

  /** The text of a key, or else that of its older name. */
  String either(String key, String older) {
    return data.containsKey(key) || !data.containsKey(older) ? key : older;
  }

  /** The text without blanks and line ends around it, as Knative reads texts. */
  public String text(String key, String absent) {
    return data.getOrDefault(key, absent).strip();
  }

  /**
   * The text with blanks and line ends around it, because Knative compares some values unchanged;
   * empty if it is absent.
   */
  String exactText(String key) {
    return data.getOrDefault(key, "");
  }

  public boolean flag(String key) {
    var value = data.get(key);
    if (value == null || FALSE.contains(value)) {
      return false;
    }
    if (!TRUE.contains(value)) {
      refuse(key, "must be true or false");
      return false;
    }
    return true;
  }

  /** A duration in Go's form that is not negative. */
  Duration duration(String key, Duration absent) {
    return read(key, absent, text -> {
      var length = GoDuration.parse(text);
      return length.isNegative() ? null : length;
    }, "must be a duration such as 30s, and not negative");
  }

  public int count(String key) {
    return read(key, 0, text -> {
      int number = Integer.parseInt(text);
      return number < 0 ? null : number;
    }, "must be a whole number, 0 or more");
  }

  /** A number from 0 to 1. */
  public double fraction(String key) {
    return read(key, 0.0, text -> {
      var number = number(text);
      return number != null && number >= 0 && number <= 1 ? number : null;
    }, "must be a number from 0 to 1");
  }

  public boolean isNumber(String key) {
    return number(text(key, "")) != null;
  }

  /** Parses a number. Stricter than Java, which allows blanks and type suffixes. */
  private static @Nullable Double number(String text) {
    try {
      return DECIMAL.matcher(text).matches() ? Double.valueOf(text) : null;
    } catch (NumberFormatException e) {
      return null;
    }
  }

  public <W> W oneOf(String key, W absent, Map<String, W> words) {
    return read(key, absent, text -> words.get(text.strip()), "must be one of "
        + String.join(", ", words.keySet().stream().filter(word -> !word.isEmpty()).toList()));
  }

  /** Checks an endpoint: it may be empty, a URL, or host and port. */
  public void checkEndpoint(String key) {
    check(key, text -> text.isBlank() || ENDPOINT.matcher(text.strip()).matches()
        ? null
        : "it is '" + OutboundProxies.withoutUser(text)
            + "', but must be a URL such as http://collector:4318");
  }

  /** Checks a value that is not used here. If it is invalid, the map is invalid. */
  public void check(String key, Function<String, @Nullable String> check) {
    var value = data.get(key);
    var problem = value == null ? null : check.apply(value);
    if (problem != null) {
      problem(key + " is not valid: " + problem);
    }
  }

  private <V> V read(String key, V absent, Function<String, @Nullable V> reader, String rule) {
    var text = data.get(key);
    if (text == null) {
      return absent;
    }
    @Nullable V value;
    try {
      value = reader.apply(text);
    } catch (IllegalArgumentException e) {
      value = null;
    }
    if (value == null) {
      refuse(key, rule);
      return absent;
    }
    return value;
  }

  private void refuse(String key, String rule) {
    problem(key + " is '" + data.get(key) + "', but " + rule);
  }
}
