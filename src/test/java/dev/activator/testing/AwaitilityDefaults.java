package dev.activator.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * What all tests wait with. Polls at once and then every 10 ms: Awaitility's own 100 ms were a third of the
 * suite's time. Two minutes of patience, which only a failure or a starved machine takes.
 */
public final class AwaitilityDefaults implements BeforeAllCallback {
  @Override
  public void beforeAll(ExtensionContext context) {
    Awaitility.setDefaultTimeout(Duration.ofMinutes(2));
    Awaitility.setDefaultPollDelay(Duration.ZERO);
    Awaitility.setDefaultPollInterval(Duration.ofMillis(10));
  }
}
