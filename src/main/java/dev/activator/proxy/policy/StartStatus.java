package dev.activator.proxy.policy;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a revision's start, for the requests that wait for it. Names no address.
 *
 * @param ready whether requests can run
 * @param why a sentence without a full stop; empty if unknown
 * @param failed whether it cannot start, of which {@code why} has the cause; it is tried again
 * @param requested since the first request waited for the start; null if none does
 * @param listed since the first pod was listed; null while none is
 * @param usual how long a start usually takes; zero if unknown
 */
public record StartStatus(boolean ready, String why, boolean failed,
    @Nullable Duration requested, @Nullable Duration listed, Duration usual) {
  public static final StartStatus UNKNOWN = new StartStatus(false, "", false, null, null,
      Duration.ZERO);
}
