package dev.activator.embedded.api.policy;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A parsed field selector.
 *
 * <p><b>Source.</b> {@code fields/selector.go} in Kubernetes' apimachinery.
 */
public record FieldSelector(List<Term> terms) {
  public static final FieldSelector EVERYTHING = new FieldSelector(List.of());

  public enum Comparison {
    EQUAL,
    DIFFERENT
  }

  /** @param value the value to compare with; an absent field counts as empty */
  public record Term(String field, Comparison comparison, String value) {
    boolean matches(Map<String, String> fields) {
      boolean equal = fields.getOrDefault(field, "").equals(value);
      return equal == (comparison == Comparison.EQUAL);
    }
  }

  /** Parses a selector such as {@code metadata.name=a,status.phase!=Running}. */
  public static FieldSelector parse(String text) {
    if (text.isBlank()) {
      return EVERYTHING;
    }
    var terms = new ArrayList<Term>();
    for (var part : text.split("(?<!\\\\),", -1)) {
      if (!part.isBlank()) {
        terms.add(term(part, text));
      }
    }
    return new FieldSelector(List.copyOf(terms));
  }

  /** Selects only the object of this name; any if the name is empty. */
  public FieldSelector named(String name) {
    return name.isEmpty()
        ? this
        : new FieldSelector(Stream.concat(terms.stream(),
            Stream.of(new Term("metadata.name", Comparison.EQUAL, name))).toList());
  }

  /**
   * Returns this selector, after checking its fields.
   *
   * @throws IllegalArgumentException if a field is unknown
   */
  public FieldSelector over(Collection<String> known) {
    for (var term : terms) {
      if (!known.contains(term.field())) {
        String names = known.stream().map(name -> '"' + name + '"')
            .collect(Collectors.joining(", "));
        throw new IllegalArgumentException(
            '"' + term.field() + "\" is not a known field selector: only " + names);
      }
    }
    return this;
  }

  public boolean matches(Map<String, String> fields) {
    for (var term : terms) {
      if (!term.matches(fields)) {
        return false;
      }
    }
    return true;
  }

  private static Term term(String part, String text) {
    int sign = part.indexOf('=');
    if (sign < 1) {
      throw new IllegalArgumentException("invalid selector: '" + text + "'; can't understand '"
          + part + "'");
    }
    boolean different = part.charAt(sign - 1) == '!';
    boolean doubled = sign + 1 < part.length() && part.charAt(sign + 1) == '=';
    String field = part.substring(0, different ? sign - 1 : sign).strip();
    String value = part.substring(sign + (doubled ? 2 : 1)).strip();
    return new Term(field, different ? Comparison.DIFFERENT : Comparison.EQUAL,
        value.replaceAll("\\\\(.)", "$1"));
  }
}
