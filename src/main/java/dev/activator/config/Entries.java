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
 * The entries of one map while it is parsed: each is read by its key and type, and what is wrong
 * with it is noted. A value that is wrong reads as the default, so that the rest is checked too.
 *
 * <p>
 * <b>Threads.</b> One.
 */
final class Entries {
  /** Exactly those that Go's {@code strconv.ParseBool} knows. */
  private static final Set<String> TRUE = Set.of("1", "t", "T", "TRUE", "true", "True");
  private static final Set<String> FALSE = Set.of("0", "f", "F", "FALSE", "false", "False");

  private static final Pattern DECIMAL = Pattern.compile("[0-9.eE+-]+");

  private static final Pattern ENDPOINT = Pattern.compile("(https?://)?([^/@\\s]*@)?"
      + "(\\[[0-9a-fA-F:.%]+]|[^\\s:/?#@\\[\\]]+)(:\\d{1,5})?(/\\S*)?");

  private final Map<String, String> data;
  private final List<String> problems = new ArrayList<>();

  Entries(Map<String, String> data) {
    this.data = data;
  }

  List<String> problems() {
    return problems;
  }

  void problem(String sentence) {
    problems.add(sentence);
  }

  /** The key to read of the two that mean the same: the older one only where there is no other. */
  String either(String key, String older) {
    return data.containsKey(key) || !data.containsKey(older) ? key : older;
  }

  String text(String key, String absent) {
    return data.getOrDefault(key, absent);
  }

  boolean flag(String key) {
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

  /** A length of time as Go writes it, which is not negative. */
  Duration duration(String key, Duration absent) {
    return read(key, absent, text -> {
      var length = GoDuration.parse(text);
      return length.isNegative() ? null : length;
    }, "must be a duration such as 30s, and not negative");
  }

  /** A whole number that is not negative. */
  int count(String key) {
    return read(key, 0, text -> {
      int number = Integer.parseInt(text);
      return number < 0 ? null : number;
    }, "must be a whole number, 0 or more");
  }

  /** A number from 0 to 1. */
  double fraction(String key) {
    return read(key, 0.0, text -> {
      var number = number(text);
      return number != null && number >= 0 && number <= 1 ? number : null;
    }, "must be a number from 0 to 1");
  }

  /** Whether the text is there, and is a number of any size. */
  boolean isNumber(String key) {
    return number(text(key, "")) != null;
  }

  /** Java's own rules allow blanks and letters that mean a type. */
  private static @Nullable Double number(String text) {
    try {
      return DECIMAL.matcher(text).matches() ? Double.valueOf(text) : null;
    } catch (NumberFormatException none) {
      return null;
    }
  }

  /** One of the words; the default if there is no such key. */
  <W> W oneOf(String key, W absent, Map<String, W> words) {
    return read(key, absent, words::get, "must be one of "
        + String.join(", ", words.keySet().stream().filter(word -> !word.isEmpty()).toList()));
  }

  /** Checks where OTLP is sent, as people write it: empty, a URL, or a host with its port. */
  void checkEndpoint(String key) {
    check(key, text -> text.isEmpty() || ENDPOINT.matcher(text).matches()
        ? null
        : "it is '" + Proxies.withoutUser(text)
            + "', but must be a URL such as http://collector:4318");
  }

  /** Checks a text that we do not use, but that may make the map invalid. */
  void check(String key, Function<String, @Nullable String> check) {
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
    } catch (IllegalArgumentException malformed) {
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
