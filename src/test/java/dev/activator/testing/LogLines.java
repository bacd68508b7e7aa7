package dev.activator.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** What one class logs, until it is closed. */
public final class LogLines implements AutoCloseable {
  private final Logger logger;
  private final @Nullable Level level;
  private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
  private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
    @Override
    protected void append(ILoggingEvent event) {
      events.add(event);
    }
  };

  private LogLines(Class<?> type) {
    logger = (Logger) LoggerFactory.getLogger(type);
    level = logger.getLevel();
    // Simulations that run at the same time raise the level of all.
    logger.setLevel(Level.TRACE);
    appender.start();
    logger.addAppender(appender);
    logger.setAdditive(false);
  }

  public static LogLines of(Class<?> type) {
    return new LogLines(type);
  }

  /** What was said at exactly this level. */
  public List<String> at(Level level) {
    return events.stream().filter(event -> event.getLevel() == level)
        .map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Override
  public void close() {
    logger.detachAppender(appender);
    logger.setLevel(level);
    logger.setAdditive(true);
  }
}
