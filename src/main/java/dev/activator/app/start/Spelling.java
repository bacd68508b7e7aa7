package dev.activator.app.start;

import java.util.Collection;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * Which of the names there are is meant by one that is not among them.
 *
 * <p>
 * <b>Source.</b> Levenshtein's distance: letters that are to be added, left out or changed.
 */
final class Spelling {
  private Spelling() {}

  /** The nearest; null if none is near, which is: a third of its letters would do for another. */
  static @Nullable String nearest(String written, Collection<String> names) {
    return names.stream().min(Comparator.comparingInt(name -> distance(written, name)))
        .filter(name -> distance(written, name) <= Math.max(2, name.length() / 3)).orElse(null);
  }

  static int distance(String one, String other) {
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
