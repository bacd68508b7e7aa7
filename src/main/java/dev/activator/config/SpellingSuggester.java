package dev.activator.config;

import java.util.Collection;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** Finds the known name that is nearest to a misspelt one. */
public final class SpellingSuggester {
  private static final int MIN_PREFIX_LENGTH = 3;
  private static final int MAX_LENGTH = 200;

  private SpellingSuggester() {}

  /**
   * The nearest name; null if every name differs in more than a third of its letters and none is a
   * prefix, and for very long texts.
   */
  public static @Nullable String nearest(String written, Collection<String> names) {
    if (written.length() > MAX_LENGTH) {
      return null;
    }
    var near = names.stream().min(Comparator.comparingInt(name -> distance(written, name)))
        .filter(name -> distance(written, name) <= Math.max(2, name.length() / 3)).orElse(null);
    return near != null
        ? near
        : names.stream().filter(name -> name.length() >= MIN_PREFIX_LENGTH)
            .filter(written::startsWith).max(Comparator.comparingInt(String::length)).orElse(null);
  }

  /** The number of letters that must be added, removed or replaced. */
  public static int distance(String one, String other) {
    int[] before = new int[other.length() + 1];
    for (int j = 0; j <= other.length(); j++) {
      before[j] = j;
    }
    for (int i = 1; i <= one.length(); i++) {
      int[] now = new int[other.length() + 1];
      now[0] = i;
      for (int j = 1; j <= other.length(); j++) {
        int change = before[j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        now[j] = Math.min(change, 1 + Math.min(before[j], now[j - 1]));
      }
      before = now;
    }
    return before[other.length()];
  }
}
