package dev.activator.kube.informer;

import dev.activator.kube.informer.Informer.InformerStatus.ListenerView;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The registration of a handler. Closing it removes the handler.
 *
 * <p><b>Threads.</b> Any, including the handler's own.
 */
public final class InformerHandlerRegistration implements AutoCloseable {
  private final Supplier<ListenerView> view;
  private final CompletableFuture<Void> synced;
  private final Runnable remove;

  InformerHandlerRegistration(Supplier<ListenerView> view, CompletableFuture<Void> synced,
      Runnable remove) {
    this.view = view;
    this.synced = synced;
    this.remove = remove;
  }

  /** Whether the handler has handled all initial objects. */
  public boolean hasSynced() {
    return view.get().synced();
  }

  /**
   * Completes on the handler's loop when it has handled all initial objects; cancelled if it is
   * removed before.
   */
  public CompletableFuture<Void> synced() {
    return synced.copy();
  }

  public ListenerView view() {
    return view.get();
  }

  /**
   * Removes the handler and drops its pending changes. A running call is not interrupted.
   * Idempotent.
   */
  @Override
  public void close() {
    remove.run();
  }
}
