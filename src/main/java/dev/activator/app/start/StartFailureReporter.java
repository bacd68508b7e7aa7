package dev.activator.app.start;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalysisReporter;

/** Says on one line why the process does not start: what a log collector keeps together. */
final class StartFailureReporter implements FailureAnalysisReporter {
  private static final Logger log = LoggerFactory.getLogger(StartFailureReporter.class);

  @Override
  public void report(FailureAnalysis analysis) {
    log.error("Cannot start: {}", line(analysis.getDescription()));
    log.debug("The cause", analysis.getCause());
  }

  private static String line(String text) {
    return text.strip().replaceAll("\\s*\\R\\s*", " ");
  }
}
