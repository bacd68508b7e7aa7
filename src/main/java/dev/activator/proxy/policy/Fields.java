package dev.activator.proxy.policy;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The header fields of one message. Names are compared ignoring case. */
public interface Fields {
  /** The first value; null if there is none. */
  @Nullable String first(Field field);

  /** All values, in order. */
  List<String> all(Field field);

  boolean has(Field field);

  /** Whether there is more than one value. */
  boolean isRepeated(Field field);

  /** Replaces all values by this one. */
  void set(Field field, String value);

  void remove(Field field);

  /** Removes a field that {@link Field} does not list. */
  void remove(String name);

  /** Removes many fields in one pass. */
  void removeAll(Set<String> namesIgnoringCase);

  /** The first value; empty if there is none. */
  default String text(Field field) {
    String value = first(field);
    return value == null ? "" : value;
  }

  /** Whether one of the values is, or is a list that contains, this token. */
  default boolean hasToken(Field field, String token) {
    boolean[] found = new boolean[1];
    eachToken(all(field), each -> found[0] |= each.equalsIgnoreCase(token));
    return found[0];
  }

  /** Splits lists such as {@code a, b} (RFC 9110, section 5.6.1). Empty elements are skipped. */
  static void eachToken(List<String> values, Consumer<String> token) {
    for (String value : values) {
      int from = 0;
      while (from <= value.length()) {
        int comma = value.indexOf(',', from);
        int to = comma < 0 ? value.length() : comma;
        String element = value.substring(from, to).strip();
        if (!element.isEmpty()) {
          token.accept(element);
        }
        from = to + 1;
      }
    }
  }
}
