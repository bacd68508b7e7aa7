package dev.activator.app;

import dev.activator.config.LoggingConfig.Level;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;

/**
 * How much is logged, as the ConfigMap has it. Errors always are: Zap's levels above them are about
 * what ends a process there.
 *
 * <p>
 * <b>Threads.</b> Any may call.
 */
final class LogLevels {
  private static final Logger log = LoggerFactory.getLogger(LogLevels.class);
  private static final String OURS = "dev.activator";

  private final LoggingSystem logging;

  LogLevels(LoggingSystem logging) {
    this.logging = logging;
  }

  /** From now on; what libraries say below INFO stays unsaid. */
  void use(Level level) {
    var ours = switch (level) {
      case DEBUG -> LogLevel.DEBUG;
      case INFO -> LogLevel.INFO;
      case WARN -> LogLevel.WARN;
      case ERROR, DPANIC, PANIC, FATAL -> LogLevel.ERROR;
    };
    // Before it may be too late to say so, and after it may be too early.
    log.info("Logging from {} on", ours);
    logging.setLogLevel(OURS, ours);
    logging.setLogLevel(LoggingSystem.ROOT_LOGGER_NAME,
        ours == LogLevel.DEBUG ? LogLevel.INFO : ours);
  }
}
