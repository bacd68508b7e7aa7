package dev.activator.kube;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;

/** Starts that fail, on a machine that may be busy. */
public final class StartFailure {
  @FunctionalInterface
  public interface Starting {
    void within(Duration patience) throws Exception;
  }

  private StartFailure() {}

  /** The message of the failure. A start whose patience was over before the first answer is repeated with more. */
  public static String of(Starting starting) {
    int seconds = 2;
    String message = message(starting, seconds);
    while (message.endsWith("does not answer") && seconds < 120) {
      seconds *= 2;
      message = message(starting, seconds);
    }
    return message;
  }

  private static String message(Starting starting, int seconds) {
    return catchThrowableOfType(ClusterUnavailableException.class,
        () -> starting.within(Duration.ofSeconds(seconds))).getMessage();
  }
}
