package dev.activator.backend;

import dev.activator.revision.RevisionId;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What waits, in an order in which the revisions take turns: many of one keep nobody waiting longer
 * than one of it would.
 *
 * @param <T> what waits
 */
final class FairQueue<T> {
  private final Map<RevisionId, ArrayDeque<T>> waiting = new LinkedHashMap<>();

  /** What comes from it, and of which revision it is. */
  record Taken<T>(RevisionId revision, T one) {}

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  boolean has(RevisionId revision) {
    return waiting.containsKey(revision);
  }

  void add(RevisionId revision, T one) {
    waiting.computeIfAbsent(revision, _ -> new ArrayDeque<>(2)).add(one);
  }

  /** The next one of a revision that may go, and it is not in it any more; null if none may. */
  @Nullable Taken<T> take(Predicate<RevisionId> mayGo) {
    for (var entry : waiting.entrySet()) {
      if (mayGo.test(entry.getKey())) {
        return take(entry.getKey(), entry.getValue());
      }
    }
    return null;
  }

  private Taken<T> take(RevisionId revision, ArrayDeque<T> its) {
    waiting.remove(revision);
    T one = its.remove();
    if (!its.isEmpty()) {
      waiting.put(revision, its);
    }
    return new Taken<>(revision, one);
  }

  void clear() {
    waiting.clear();
  }
}
