package dev.activator.start;

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
  private final Consumer<String> doubtful;

  /** @param doubtful told in a sentence each of what nothing reads */
  public SettingsCheck(Consumer<String> doubtful) {
    this.doubtful = doubtful;
  }

  /** @throws InvalidSettingsException if they cannot hold together */
  @Override
  public void initialize(ConfigurableApplicationContext context) {
    UnknownSettings.in(context.getEnvironment()).forEach(doubtful);
    PortClash.check(context.getEnvironment());
  }
}
