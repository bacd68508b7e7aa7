package dev.activator.revision;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * That the last pods of a workload are asleep instead of removed, as the status of its ScaledService
 * says. While there is such a state, no activator sends anything to its pods.
 *
 * @param phase never that its pods run: then there is no state
 * @param since when the phase began, in microseconds; it also names this phase among all others
 * @param method how they are put to sleep: the field {@code do} of {@code spec.idle}
 */
public record IdleState(Phase phase, Instant since, String method) {
  /** The phases, in their order. */
  public enum Phase {
    /** Requests in flight end, and new ones wait. No pod is asleep before that. */
    FALLING_ASLEEP("FallingAsleep"),
    ASLEEP("Asleep"),
    /** Some pods may be awake. */
    WAKING("Waking");

    private final String text;

    Phase(String text) {
      this.text = text;
    }

    /** As in the status. */
    public String text() {
      return text;
    }
  }

  /**
   * What the revision of each port gets to know while its ScaledService falls asleep.
   *
   * @param version of the state, which is acknowledged once nothing is sent to the pods
   * @param ports the number of these revisions
   */
  public record FallingAsleep(long version, int ports) {
    private static final Pattern TEXT = Pattern.compile("(\\d{1,18})/(\\d{1,4})");

    /** Null for another text than that of such a state. */
    public static @Nullable FallingAsleep parse(String text) {
      var parts = TEXT.matcher(text);
      return parts.matches()
          ? new FallingAsleep(Long.parseLong(parts.group(1)), Integer.parseInt(parts.group(2)))
          : null;
    }

    /** As in an annotation. */
    @Override
    public String toString() {
      return version + "/" + ports;
    }
  }

  /** The state that a status contains; null if its words are unknown. */
  public static @Nullable IdleState parse(String state, String since, String method) {
    for (var phase : Phase.values()) {
      if (phase.text.equals(state)) {
        try {
          return new IdleState(phase, Instant.parse(since), method);
        } catch (DateTimeParseException e) {
          return null;
        }
      }
    }
    return null;
  }

  /** The phase's begin as a number, in microseconds since 1970. */
  public long version() {
    return since.getEpochSecond() * 1_000_000 + since.getNano() / 1_000;
  }
}
