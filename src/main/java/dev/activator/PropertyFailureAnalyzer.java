package dev.activator;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Takes the sentence of a property record that refuses its values, which names the property. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class PropertyFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {
  @Override
  protected @Nullable FailureAnalysis analyze(Throwable root, BindException cause) {
    Throwable deepest = cause;
    while (deepest.getCause() != null) {
      deepest = deepest.getCause();
    }
    // Others, such as a NumberFormatException, do not know which property they are about.
    return deepest.getClass() == IllegalArgumentException.class
        ? new FailureAnalysis(deepest.getMessage(), null, cause)
        : null;
  }
}
