package dev.activator.revision;

import java.time.Instant;
import java.util.concurrent.CompletableFuture;

/**
 * Reads and writes the lease by which activators elect a leader.
 *
 * <p><b>Threads.</b> Must not block, and may answer on any thread.
 *
 * <p><b>Errors.</b> A failure is a result: a future never fails, and always completes within two
 * seconds.
 */
public interface LeaseClient {
  CompletableFuture<LeaseApiResult> read();

  /**
   * Creates the lease if it has no version; otherwise replaces it, if it still has that version.
   */
  CompletableFuture<LeaseApiResult> write(LeaseRecord lease);

  /**
   * A {@code Lease} by which activators elect a leader.
   *
   * @param holder the identity of the leader; empty if it was released
   * @param durationSeconds how long the lease must be unchanged before another candidate may take it
   * @param transitions how often the lease has changed hands; used as the term number
   * @param version the resourceVersion; empty if the lease is to be created
   */
  record LeaseRecord(String holder, int durationSeconds, int transitions, Instant acquired,
      Instant renewed, String version) {}

  /** The result of a read or write of a Kubernetes Lease, used for leader election. */
  sealed interface LeaseApiResult {
    /** The lease as it is now. */
    record Found(LeaseRecord lease) implements LeaseApiResult {}

    /** The lease does not exist. */
    record Absent() implements LeaseApiResult {}

    /** Another client has written or created the lease first. */
    record Conflict() implements LeaseApiResult {}

    /**
     * The API did not answer, or refused. A write may have taken effect.
     *
     * @param message for people
     */
    record Failed(String message) implements LeaseApiResult {}
  }
}
