package dev.activator.embedded.api.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * A parsed label selector.
 *
 * <p><b>Source.</b> {@code labels/selector.go} in Kubernetes' apimachinery.
 */
public record LabelSelector(List<Requirement> requirements) {
  public static final LabelSelector EVERYTHING = new LabelSelector(List.of());

  private static final Pattern TOKEN = Pattern.compile("\\s*(!=|==|[=!<>(),]|[^\\s=!<>(),]+)\\s*");

  public sealed interface Requirement {
    String key();

    default boolean matches(Map<String, String> labels) {
      String value = labels.get(key());
      return switch (this) {
        case Exists _ -> value != null;
        case Absent _ -> value == null;
        case In in -> value != null && in.values().contains(value);
        case NotIn notIn -> value == null || !notIn.values().contains(value);
        case Above above -> number(value, n -> n > above.bound());
        case Below below -> number(value, n -> n < below.bound());
      };
    }

    private static boolean number(@org.jspecify.annotations.Nullable String value,
        Predicate<Long> test) {
      return value != null && value.matches("-?\\d{1,18}") && test.test(Long.parseLong(value));
    }
  }

  public record Exists(String key) implements Requirement {}

  public record Absent(String key) implements Requirement {}

  public record In(String key, Set<String> values) implements Requirement {}

  /** The label has none of the values. This is also true if there is no such label. */
  public record NotIn(String key, Set<String> values) implements Requirement {}

  public record Above(String key, long bound) implements Requirement {}

  public record Below(String key, long bound) implements Requirement {}

  /** Parses a selector such as {@code app=web,tier in (a,b),!old}. */
  public static LabelSelector parse(String text) {
    if (text.isBlank()) {
      return EVERYTHING;
    }
    return new LabelSelector(new Parser(text).all());
  }

  public boolean matches(Map<String, String> labels) {
    for (var requirement : requirements) {
      if (!requirement.matches(labels)) {
        return false;
      }
    }
    return true;
  }

  private static final class Parser {
    private final String text;
    private final List<String> tokens = new ArrayList<>();
    private int next;

    Parser(String text) {
      this.text = text;
      var matcher = TOKEN.matcher(text);
      int end = 0;
      while (matcher.find() && matcher.start() == end) {
        tokens.add(matcher.group(1));
        end = matcher.end();
      }
      if (end != text.length()) {
        throw wrong("cannot read it at position " + end);
      }
    }

    List<Requirement> all() {
      var requirements = new ArrayList<Requirement>();
      requirements.add(one());
      while (next < tokens.size()) {
        expect(",");
        requirements.add(one());
      }
      return List.copyOf(requirements);
    }

    private Requirement one() {
      if (at("!")) {
        next++;
        return new Absent(key());
      }
      String key = key();
      return next == tokens.size() || at(",") ? new Exists(key) : compared(key, tokens.get(next++));
    }

    private Requirement compared(String key, String operator) {
      return switch (operator) {
        case "=", "==" -> new In(key, Set.of(value()));
        case "!=" -> new NotIn(key, Set.of(value()));
        case "in" -> new In(key, values());
        case "notin" -> new NotIn(key, values());
        case ">" -> new Above(key, bound());
        case "<" -> new Below(key, bound());
        default -> throw wrong("found '" + operator + "' after '" + key + "'");
      };
    }

    private Set<String> values() {
      expect("(");
      var values = new TreeSet<String>();
      values.add(value());
      while (at(",")) {
        next++;
        values.add(value());
      }
      expect(")");
      return values;
    }

    private String key() {
      String key = word();
      return valid(key, ObjectNames.problemAsKey(key));
    }

    /** A value, which may be empty. */
    private String value() {
      String value = next == tokens.size() || at(",") || at(")") ? "" : word();
      return valid(value, ObjectNames.problemAsLabelValue(value));
    }

    private String valid(String word, Optional<String> problem) {
      problem.ifPresent(text -> {
        throw wrong("Invalid value: \"" + word + "\": " + text);
      });
      return word;
    }

    private long bound() {
      String word = word();
      try {
        return Long.parseLong(word);
      } catch (NumberFormatException _) {
        throw wrong("'" + word + "' is not an integer");
      }
    }

    private String word() {
      if (next == tokens.size() || "!===<>(),".contains(tokens.get(next))) {
        throw wrong("found " + (next == tokens.size() ? "the end" : "'" + tokens.get(next) + "'")
            + ", expected: identifier");
      }
      return tokens.get(next++);
    }

    private void expect(String token) {
      if (!at(token)) {
        throw wrong("found " + (next == tokens.size() ? "the end" : "'" + tokens.get(next) + "'")
            + ", expected: '" + token + "'");
      }
      next++;
    }

    private boolean at(String token) {
      return next < tokens.size() && tokens.get(next).equals(token);
    }

    private IllegalArgumentException wrong(String why) {
      return new IllegalArgumentException(
          "unable to parse requirement: " + why + ", in \"" + text + '"');
    }
  }
}
