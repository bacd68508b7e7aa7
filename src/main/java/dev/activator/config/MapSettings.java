package dev.activator.config;

import java.util.List;
import java.util.SortedMap;

/**
 * What one ConfigMap says, understood.
 *
 * @param <S> itself
 */
public interface MapSettings<S> {
  /** The keys in which the next differ from these, and that are read at a start only. */
  List<String> needRestart(S next);

  /** What takes effect, by the key that says it. */
  SortedMap<String, String> entries();
}
