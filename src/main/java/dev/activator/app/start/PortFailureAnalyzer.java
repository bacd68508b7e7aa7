package dev.activator.app.start;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Says that the port of metrics and health is taken, and what it is called. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class PortFailureAnalyzer extends AbstractFailureAnalyzer<PortInUseException> {
  @Override
  protected FailureAnalysis analyze(Throwable root, PortInUseException cause) {
    return new FailureAnalysis("the port " + cause.getPort()
        + " for metrics and health (METRICS_PROMETHEUS_PORT, server.port) is in use", null, cause);
  }
}
