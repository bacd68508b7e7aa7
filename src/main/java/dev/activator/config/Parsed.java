package dev.activator.config;

import java.util.List;
import java.util.function.Supplier;

/** The settings that a map contains, or the problems that were found in it. */
public sealed interface Parsed<S> {
  record Valid<S>(S settings) implements Parsed<S> {}

  /** @param problems sentences that name key and value; never empty */
  record Invalid<S>(List<String> problems) implements Parsed<S> {
    public Invalid {
      problems = List.copyOf(problems);
    }

    public String line() {
      return String.join("; ", problems);
    }
  }

  static <S> Parsed<S> of(List<String> problems, Supplier<S> settings) {
    return problems.isEmpty() ? new Valid<>(settings.get()) : new Invalid<>(problems);
  }
}
