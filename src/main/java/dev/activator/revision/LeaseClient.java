package dev.activator.revision;

import java.util.concurrent.CompletableFuture;

/**
 * Reads and writes the lease of the election.
 *
 * <p><b>Threads.</b> Must not block, and may answer on any thread.
 *
 * <p><b>Errors.</b> Are answers; a future never fails, and always completes within two seconds.
 */
public interface LeaseClient {
  CompletableFuture<LeaseApiResult> read();

  /** Creates it if it has no version, and replaces it only in that version otherwise. */
  CompletableFuture<LeaseApiResult> write(LeaseRecord lease);
}
