package dev.activator.http;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The header fields of one message. Names ignore case. */
public interface HeaderMap {
  /**
   * The number of elements of a list that are parsed. Envoy's limit for {@code Connection} is 10.
   */
  int MAX_ELEMENTS = 100;

  @Nullable String first(KnownHeader field);

  List<String> all(KnownHeader field);

  /** The values of a field whose name comes from the configuration. */
  List<String> getAll(String name);

  boolean has(KnownHeader field);

  boolean isRepeated(KnownHeader field);

  void set(KnownHeader field, String value);

  /** Sets a field and puts it before all others. */
  void setFirst(KnownHeader field, String value);

  void remove(KnownHeader field);

  /** Removes several fields in one pass. */
  void removeAll(Set<String> namesIgnoringCase);

  /** The first value, or empty. */
  default String text(KnownHeader field) {
    String value = first(field);
    return value == null ? "" : value;
  }

  /** Whether a field has the token, also in a comma-separated list. */
  default boolean hasToken(KnownHeader field, String token) {
    boolean[] found = new boolean[1];
    eachToken(all(field), each -> found[0] |= each.equalsIgnoreCase(token));
    return found[0];
  }

  /**
   * Splits comma-separated lists (RFC 9110, section 5.6.1). Skips empty elements, and those beyond
   * {@link #MAX_ELEMENTS}. Decoders refuse lists that affect the connection and are longer.
   */
  static void eachToken(List<String> values, Consumer<String> token) {
    int elements = 0;
    for (String value : values) {
      int from = 0;
      while (from <= value.length() && elements < MAX_ELEMENTS) {
        int comma = value.indexOf(',', from);
        int to = comma < 0 ? value.length() : comma;
        String element = value.substring(from, to).strip();
        if (!element.isEmpty()) {
          token.accept(element);
        }
        from = to + 1;
        elements++;
      }
    }
  }
}
