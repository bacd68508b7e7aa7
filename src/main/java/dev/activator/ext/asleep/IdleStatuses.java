package dev.activator.ext.asleep;

import dev.activator.revision.IdleState;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult.Refused;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes {@code status.idle} of ScaledServices. A write names the version that was read, so
 * that of two leaders only one takes a step.
 *
 * <p><b>Errors.</b> Are in the result.
 */
interface IdleStatuses {
  /**
   * The state as it is stored.
   *
   * @param refusal null if it was read or written
   */
  record Stored(@Nullable IdleState state, String version, @Nullable Refused refusal) {}

  CompletableFuture<Stored> get(RevisionId id);

  /**
   * Replaces the state, unless it has changed since it was read.
   *
   * @param next null if its pods run
   */
  CompletableFuture<Stored> replace(RevisionId id, Stored read, @Nullable IdleState next);
}
