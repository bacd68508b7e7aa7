package dev.activator.console;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Which activator scales, as JSON.
 *
 * @param pod of the leader; null if none leads, or that is not known
 * @param here whether it is this activator
 * @param transitions how many times the lease has changed hands
 * @param renewedSecondsAgo since the lease was last seen to be renewed
 * @param problem why the lease could not be read or written the last time; null if it could
 */
public record LeaderReport(@Nullable String pod, boolean here, int transitions,
    double renewedSecondsAgo, @Nullable String problem) {

  /** A sentence without its end. */
  String summary() {
    var who = here
        ? "this activator scales"
        : pod == null ? "no activator scales" : pod + " scales";
    return problem == null ? who : who + " (" + problem + ")";
  }

  String sentence() {
    var text = summary() + ".";
    return here || pod == null
        ? text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1)
        : text;
  }
}
