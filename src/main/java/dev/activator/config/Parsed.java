package dev.activator.config;

import java.util.List;
import java.util.function.Supplier;

/**
 * What came of reading a map of texts as a whole: settings, or all that is wrong with it. There is
 * nothing in between, as a map that is half understood is not what its author meant.
 */
public sealed interface Parsed<S> {
  /** It is understood. */
  record Valid<S>(S settings) implements Parsed<S> {}

  /**
   * It is not.
   *
   * @param problems a sentence each, which names the key and its value; never empty
   */
  record Invalid<S>(List<String> problems) implements Parsed<S> {
    public Invalid {
      problems = List.copyOf(problems);
    }

    /** All problems on one line. */
    public String line() {
      return String.join("; ", problems);
    }
  }

  /** The settings, unless something is wrong. */
  static <S> Parsed<S> of(List<String> problems, Supplier<S> settings) {
    return problems.isEmpty() ? new Valid<>(settings.get()) : new Invalid<>(problems);
  }
}
