package dev.activator.revision;

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
}
