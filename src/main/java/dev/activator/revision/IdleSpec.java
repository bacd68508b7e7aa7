package dev.activator.revision;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code spec.idle} of a ScaledService as it is written, which an extension reads, and
 * {@code status.idle}.
 *
 * @param fields as texts, numbers, booleans, lists and maps; null without {@code spec.idle}, so that
 *     idle pods are removed
 * @param state null while its pods are neither asleep nor on their way to or from there
 */
public record IdleSpec(@Nullable Map<?, ?> fields, @Nullable IdleState state) {
  public static final IdleSpec NONE = new IdleSpec(null, null);

  /** Whether its pods are, or may be, asleep, or are about to be. */
  public boolean isInForce() {
    return fields != null || state != null;
  }
}
