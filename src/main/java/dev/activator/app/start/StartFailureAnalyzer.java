package dev.activator.app.start;

import dev.activator.lifecycle.StartFailedException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Takes the sentence a failed part has for it, out of the exceptions Spring wraps around it. */
final class StartFailureAnalyzer extends AbstractFailureAnalyzer<StartFailedException> {
  @Override
  protected FailureAnalysis analyze(Throwable root, StartFailedException cause) {
    return new FailureAnalysis(cause.getMessage(), null, cause);
  }
}
