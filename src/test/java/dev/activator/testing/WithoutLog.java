package dev.activator.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/**
 * The product logs nothing while a test of this class runs, because its lines would be thousands.
 * Classes that {@linkplain LogLines read the log} at the same time still see it.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(WithoutLog.Switch.class)
public @interface WithoutLog {
  /** Counts the classes that run, as several do at the same time. */
  final class Switch implements BeforeAllCallback, AfterAllCallback {
    private static final Logger LOG = (Logger) LoggerFactory.getLogger("dev.activator");
    private static final AtomicInteger running = new AtomicInteger();

    @Override
    public void beforeAll(ExtensionContext context) {
      running.incrementAndGet();
      LOG.setLevel(Level.OFF);
    }

    @Override
    public void afterAll(ExtensionContext context) {
      if (running.decrementAndGet() == 0) {
        LOG.setLevel(null);
      }
    }
  }
}
