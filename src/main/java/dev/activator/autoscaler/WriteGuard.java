package dev.activator.autoscaler;

import java.util.concurrent.CompletableFuture;

/**
 * Says whether this process may write: only one may at a time.
 *
 * <p><b>Threads.</b> Called on the autoscaler's loop, and must not block.
 */
public interface WriteGuard {
  /** The guard of an autoscaler that is the only one. */
  WriteGuard ALONE = new WriteGuard() {
    @Override
    public boolean mayWrite() {
      return true;
    }

    @Override
    public CompletableFuture<Boolean> confirmed() {
      return CompletableFuture.completedFuture(true);
    }
  };

  /** Whether a write that begins now ends before another process can write. */
  boolean mayWrite();

  /** Reads from the API itself whether this process leads; it never fails. */
  CompletableFuture<Boolean> confirmed();
}
