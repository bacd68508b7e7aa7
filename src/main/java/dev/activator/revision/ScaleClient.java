package dev.activator.revision;

import java.util.concurrent.CompletableFuture;

/**
 * Reads and writes {@code scale} subresources.
 *
 * <p><b>Threads.</b> Called on the autoscaler's loop, must not block, and may answer on any thread.
 *
 * <p><b>Errors.</b> Are answers; a future never fails.
 */
public interface ScaleClient {
  /**
   * Called before the last replicas are removed, and before it is confirmed that this client may write.
   *
   * @return whether they may go within the next half minute; if not, it is called again later
   */
  default CompletableFuture<Boolean> goesToZero(RevisionId id) {
    return CompletableFuture.completedFuture(true);
  }

  /** Call if the last replicas stay after all, though {@link #goesToZero} let them go. */
  default void staysUp(RevisionId id) {}

  /** The replicas of a workload in the namespace of {@code id}. */
  CompletableFuture<ScaleApiResult> read(RevisionId id, ScaleTargetRef workload);

  /**
   * Sets the replicas, unless the workload has changed since it was read. Gives up two seconds after
   * the call: a later leader may write then.
   *
   * @param read what {@link #read} answered
   */
  CompletableFuture<ScaleApiResult> write(RevisionId id, ScaleTargetRef workload,
      ScaleApiResult.Found read, int replicas);
}
