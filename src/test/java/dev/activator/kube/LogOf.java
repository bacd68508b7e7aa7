package dev.activator.kube;

import java.util.concurrent.CopyOnWriteArrayList;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.activator.kube.reflector.ReflectorStats;
import java.util.List;
import org.slf4j.LoggerFactory;

/** What journals write in the log, from here to {@link #close}. */
public final class LogOf implements AutoCloseable {
  private final Logger logger;
  private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

  public LogOf() {
    this(ReflectorStats.class);
  }

  /** What this class writes. */
  public LogOf(Class<?> writer) {
    logger = (Logger) LoggerFactory.getLogger(writer);
    // It is read while other threads write.
    appender.list = new CopyOnWriteArrayList<>();
    appender.start();
    logger.addAppender(appender);
  }

  /** Each with its level in front, those for debugging left out. */
  public List<String> lines() {
    return appender.list.stream().map(line -> line.getLevel() + " " + line.getFormattedMessage())
        .toList();
  }

  @Override
  public void close() {
    logger.detachAppender(appender);
  }
}
