package dev.activator.app.start;

import java.util.function.Consumer;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Looks at the settings as a whole, before anything is made of them: what each record cannot see for
 * itself.
 */
public final class SettingsCheck
    implements
    ApplicationContextInitializer<ConfigurableApplicationContext> {
  /** Spring Boot's. Which servers there are is decided when the jar is built. */
  private static final String SECOND_SERVER = "management.server.port";

  private final Consumer<String> doubtful;

  /** @param doubtful told in a sentence each of what nothing reads */
  public SettingsCheck(Consumer<String> doubtful) {
    this.doubtful = doubtful;
  }

  /** @throws InvalidSettingsException if they cannot hold together */
  @Override
  public void initialize(ConfigurableApplicationContext context) {
    var environment = context.getEnvironment();
    UnknownSettings.in(environment).forEach(doubtful);
    if (environment.containsProperty(SECOND_SERVER)) {
      throw new InvalidSettingsException(
          SECOND_SERVER + " cannot be set: health and metrics are on "
              + "activator.metrics-server.port, or METRICS_PROMETHEUS_PORT");
    }
    PortClash.check(environment);
  }
}
