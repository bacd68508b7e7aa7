package dev.activator.app;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import dev.activator.config.ActivatorMode;
import dev.activator.observability.JsonLogEncoder;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.springframework.boot.logging.LogFile;
import org.springframework.boot.logging.LoggingInitializationContext;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.logging.logback.LogbackLoggingSystem;
import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;

/**
 * Configures Spring Boot's logging. In a cluster it writes lines in the format of Knative's
 * programs, because log collectors expect that. There is no XML file, because reading one took 5 % of the time of a start.
 */
public final class ActivatorLogging extends LogbackLoggingSystem {
  private static final String CONSOLE = "CONSOLE";

  public ActivatorLogging(ClassLoader classes) {
    super(classes);
  }

  /** Selects this logging system. Call before Spring Boot starts. */
  public static void use() {
    System.setProperty(LoggingSystem.SYSTEM_PROPERTY, ActivatorLogging.class.getName());
  }

  @Override
  protected void loadDefaults(LoggingInitializationContext initialization,
      @Nullable LogFile file) {
    super.loadDefaults(initialization, file);
    var environment = initialization.getEnvironment();
    if (environment != null
        && environment.acceptsProfiles(Profiles.of(ActivatorMode.CLUSTER.profile()))
        && root().getAppender(CONSOLE) instanceof ConsoleAppender<ILoggingEvent> console) {
      writeJson(console, environment);
    }
  }

  private static Logger root() {
    return ((LoggerContext) LoggerFactory.getILoggerFactory()).getLogger(Logger.ROOT_LOGGER_NAME);
  }

  private static void writeJson(ConsoleAppender<ILoggingEvent> console, Environment environment) {
    var lines = new JsonLogEncoder();
    lines.setPod(environment.getProperty("POD_NAME", ""));
    lines.setCommit(environment.getProperty("ACTIVATOR_COMMIT", ""));
    lines.setContext(console.getContext());
    lines.start();
    console.stop();
    console.setTarget("System.err");
    console.setEncoder(lines);
    console.start();
  }
}
