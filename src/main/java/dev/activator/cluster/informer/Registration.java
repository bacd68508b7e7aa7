package dev.activator.cluster.informer;

import dev.activator.cluster.informer.InformerView.ListenerView;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A registered handler, until it is closed.
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
   * {@link java.util.concurrent.CancellationException} if the handler is removed before.
   */
  public CompletableFuture<Void> synced() {
    return synced.copy();
  }

  public ListenerView view() {
    return view.get();
  }

  /**
   * Removes the handler. No call of it starts after this, one may be in progress, and its pending
   * changes are dropped. Idempotent.
   */
  @Override
  public void close() {
    remove.run();
  }
}
