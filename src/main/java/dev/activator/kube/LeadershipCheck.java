package dev.activator.kube;

import java.util.concurrent.CompletableFuture;

/**
 * Says whether this activator is the elected leader and may write scales now.
 *
 * <p><b>Threads.</b> Called on the autoscaler's loop, and must not block.
 */
public interface LeadershipCheck {
  /** The check of an autoscaler that is the only one: it always leads. */
  LeadershipCheck ALONE = new LeadershipCheck() {
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
