package dev.activator.ext.actuators.policy;

import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Undecided;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.Locale;

/**
 * What was last done by a URL, which has no state that could be read: {@code status.wake} of a
 * ScaledService. It is written before and after each call, so that a later leader finds it.
 *
 * @param since when it was written
 */
public record WakeState(Phase phase, Instant since) {
  /** How long pods may take to show what was done. */
  private static final Duration SETTLING = Duration.ofMinutes(2);
  private static final WakeState NONE = new WakeState(Phase.UNKNOWN, Instant.EPOCH);

  public enum Phase {
    UNKNOWN,
    /** The call to start it may have been sent. */
    STARTING,
    RUNNING,
    /** The call to stop it may have been sent. */
    STOPPING,
    STOPPED;

    /** As in the status, such as {@code Running}. */
    public String text() {
      return name().charAt(0) + name().substring(1).toLowerCase(Locale.ROOT);
    }
  }

  /** Reads the fields of {@code status.wake}, which are empty if they are absent. */
  public static WakeState of(String phase, String since) {
    try {
      return Arrays.stream(Phase.values()).filter(one -> one.text().equals(phase)).findFirst()
          .map(one -> new WakeState(one, Instant.parse(since))).orElse(NONE);
    } catch (DateTimeParseException _) {
      return NONE;
    }
  }

  /**
   * Whether it runs, by this state, or later by its ready pods: another client may have stopped or
   * started it.
   *
   * @param version the version that a write must name
   */
  public ScaleApiResult result(String version, Instant now) {
    boolean isSettled = now.isAfter(since.plus(SETTLING));
    return switch (isSettled ? Phase.UNKNOWN : phase) {
      case RUNNING -> new Found(1, 1, version);
      case STOPPED -> new Found(0, 0, version);
      case UNKNOWN, STARTING, STOPPING -> new Undecided(version);
    };
  }
}
