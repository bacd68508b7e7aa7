package dev.activator.config;

import java.util.List;
import java.util.function.Supplier;

/** The result of parsing a map of settings: the settings, or the problems that were found. */
public sealed interface ParsedSettings<S> {
  record Valid<S>(S settings) implements ParsedSettings<S> {}

  /** @param problems sentences that name key and value; never empty */
  record Invalid<S>(List<String> problems) implements ParsedSettings<S> {
    public Invalid {
      problems = List.copyOf(problems);
    }

    public String line() {
      return String.join("; ", problems);
    }
  }

  static <S> ParsedSettings<S> of(List<String> problems, Supplier<S> settings) {
    return problems.isEmpty() ? new Valid<>(settings.get()) : new Invalid<>(problems);
  }
}
