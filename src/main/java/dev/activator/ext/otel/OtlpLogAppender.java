package dev.activator.ext.otel;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.sdk.logs.SdkLoggerProvider;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Pushes log lines by OTLP, in addition to standard output.
 *
 * <p><b>Source.</b> "Logs data model" of OpenTelemetry; its attributes of exceptions.
 */
final class OtlpLogAppender extends AppenderBase<ILoggingEvent> implements AutoCloseable {
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(3);
  /** Loggers that are not pushed, because they report failed pushes. */
  private static final String[] NOT_PUSHED = {"io.opentelemetry.", "okhttp3."};

  private final SdkLoggerProvider provider;

  private OtlpLogAppender(SdkLoggerProvider provider) {
    this.provider = provider;
  }

  /** Starts to push the log; null if it is not pushed. */
  static @Nullable OtlpLogAppender start(TelemetryExporters exporters) {
    var exporter = exporters.ofLogs();
    if (exporter == null) {
      return null;
    }
    var push = new OtlpLogAppender(SdkLoggerProvider.builder().setResource(exporters.resource())
        .setLogLimits(exporters::logLimits).addLogRecordProcessor(exporters.batched(exporter))
        .build());
    push.setName("OTLP");
    push.setContext(root().getLoggerContext());
    push.start();
    root().addAppender(push);
    LoggerFactory.getLogger(OtlpLogAppender.class).info("The log is pushed by {}",
        exporters.environment().logs());
    return push;
  }

  private static Logger root() {
    return ((LoggerContext) LoggerFactory.getILoggerFactory()).getLogger(Logger.ROOT_LOGGER_NAME);
  }

  @Override
  protected void append(ILoggingEvent event) {
    var name = event.getLoggerName();
    for (var own : NOT_PUSHED) {
      if (name.startsWith(own)) {
        return;
      }
    }
    var line = provider.get(name).logRecordBuilder().setTimestamp(event.getInstant())
        .setSeverity(severity(event.getLevel())).setSeverityText(event.getLevel().toString())
        .setBody(event.getFormattedMessage()).setAttribute("thread.name", event.getThreadName());
    var thrown = event.getThrowableProxy();
    if (thrown != null) {
      line.setAttribute("exception.type", thrown.getClassName())
          .setAttribute("exception.message", String.valueOf(thrown.getMessage()))
          .setAttribute("exception.stacktrace", ThrowableProxyUtil.asString(thrown));
    }
    line.emit();
  }

  private static Severity severity(Level level) {
    return switch (level.toInt()) {
      case Level.ERROR_INT -> Severity.ERROR;
      case Level.WARN_INT -> Severity.WARN;
      case Level.INFO_INT -> Severity.INFO;
      case Level.DEBUG_INT -> Severity.DEBUG;
      default -> Severity.TRACE;
    };
  }

  /** Waits for the last lines, but no longer than the timeout. */
  @Override
  public void close() {
    root().detachAppender(this);
    stop();
    provider.shutdown().join(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
  }
}
