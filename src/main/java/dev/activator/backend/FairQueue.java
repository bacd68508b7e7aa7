package dev.activator.backend;

import dev.activator.revision.RevisionId;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What waits, in an order in which the revisions take turns: many of one keep nobody waiting longer
 * than one of it would.
 *
 * @param <T> what waits
 */
final class FairQueue<T> {
  private final Map<RevisionId, ArrayDeque<T>> waiting = new LinkedHashMap<>();

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  void add(RevisionId revision, T one) {
    waiting.computeIfAbsent(revision, _ -> new ArrayDeque<>(2)).add(one);
  }

  /** The next one, which is not in it any more; fails if there is none. */
  T take() {
    var first = waiting.entrySet().iterator().next();
    waiting.remove(first.getKey());
    T one = first.getValue().remove();
    if (!first.getValue().isEmpty()) {
      waiting.put(first.getKey(), first.getValue());
    }
    return one;
  }

  void clear() {
    waiting.clear();
  }
}
