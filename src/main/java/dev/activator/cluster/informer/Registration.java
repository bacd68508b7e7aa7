package dev.activator.cluster.informer;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A handler that listens, until it is closed.
 *
 * <p>
 * <b>Threads.</b> Any, the handler's own included.
 */
public final class Registration implements AutoCloseable {
  private final Supplier<ListenerView> view;
  private final CompletableFuture<Void> synced;
  private final Runnable remove;

  Registration(Supplier<ListenerView> view, CompletableFuture<Void> synced, Runnable remove) {
    this.view = view;
    this.synced = synced;
    this.remove = remove;
  }

  /** Whether the handler has been called, and has returned, for all that was there at first. */
  public boolean hasSynced() {
    return view.get().synced();
  }

  /**
   * Done when {@link #hasSynced}, on the handler's loop; fails with a
   * {@link java.util.concurrent.CancellationException} if it is removed before.
   */
  public CompletableFuture<Void> synced() {
    return synced.copy();
  }

  public ListenerView view() {
    return view.get();
  }

  /**
   * Removes the handler. No call of it starts after this, one may be in progress, and what it was
   * still to be told is forgotten. A second time does nothing.
   */
  @Override
  public void close() {
    remove.run();
  }
}
