package dev.activator.app.start;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Takes the sentence about settings out of the exceptions Spring wraps around it. */
final class SettingsFailureAnalyzer extends AbstractFailureAnalyzer<InvalidSettingsException> {
  @Override
  protected FailureAnalysis analyze(Throwable root, InvalidSettingsException cause) {
    return new FailureAnalysis(cause.getMessage(), null, cause);
  }
}
