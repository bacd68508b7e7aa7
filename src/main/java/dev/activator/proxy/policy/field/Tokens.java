package dev.activator.proxy.policy.field;

import java.util.List;
import java.util.function.Consumer;

/** Header values that are lists: {@code a, b}. RFC 9110, section 5.6.1. */
final class Tokens {
  private Tokens() {}

  /** Calls with each element, without the blanks around it; never with an empty one. */
  static void each(List<String> values, Consumer<String> element) {
    for (String value : values) {
      int from = 0;
      while (from <= value.length()) {
        int comma = value.indexOf(',', from);
        int to = comma < 0 ? value.length() : comma;
        String token = value.substring(from, to).strip();
        if (!token.isEmpty()) {
          element.accept(token);
        }
        from = to + 1;
      }
    }
  }

  /** Whether the element is in the list, ignoring case. */
  static boolean has(List<String> values, String wanted) {
    boolean[] found = new boolean[1];
    each(values, token -> found[0] |= token.equalsIgnoreCase(wanted));
    return found[0];
  }
}
