package dev.activator.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** What one class logs, until it is closed. */
public final class LogLines implements AutoCloseable {
  /** How often each logger is read now, and the level that it had before. */
  private static final Map<Logger, Read> READ = new HashMap<>();

  private record Read(int times, @Nullable Level before) {}

  private final Logger logger;
  private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
  private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
    @Override
    protected void append(ILoggingEvent event) {
      events.add(event);
    }
  };

  private LogLines(Class<?> type) {
    logger = (Logger) LoggerFactory.getLogger(type);
    appender.start();
    synchronized (READ) {
      var before = READ.getOrDefault(logger, new Read(0, logger.getLevel()));
      READ.put(logger, new Read(before.times + 1, before.before));
      // Tests that run at the same time raise the level of all.
      logger.setLevel(Level.TRACE);
      logger.setAdditive(false);
      logger.addAppender(appender);
    }
  }

  public static LogLines of(Class<?> type) {
    return new LogLines(type);
  }

  /** What was said at exactly this level. */
  public List<String> at(Level level) {
    return events.stream().filter(event -> event.getLevel() == level)
        .map(ILoggingEvent::getFormattedMessage).toList();
  }

  /** Each with its level in front, without those for debugging. */
  public List<String> lines() {
    return events.stream().filter(event -> event.getLevel().isGreaterOrEqual(Level.INFO))
        .map(event -> event.getLevel() + " " + event.getFormattedMessage()).toList();
  }

  @Override
  public void close() {
    synchronized (READ) {
      logger.detachAppender(appender);
      var now = Objects.requireNonNull(READ.remove(logger));
      if (now.times > 1) {
        READ.put(logger, new Read(now.times - 1, now.before));
      } else {
        logger.setLevel(now.before);
        logger.setAdditive(true);
      }
    }
  }
}
