package dev.activator.config;

import java.util.List;
import java.util.function.Supplier;

/** The result of reading a whole map. */
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
