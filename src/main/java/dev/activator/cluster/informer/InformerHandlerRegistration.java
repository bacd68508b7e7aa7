package dev.activator.cluster.informer;

import dev.activator.cluster.informer.InformerStatus.ListenerView;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The registration of a handler, which removes it when closed.
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

  /** Whether all calls for the initial objects have returned. */
  public boolean hasSynced() {
    return view.get().synced();
  }

  /** Completes on the handler's loop; cancelled if the handler is removed first. */
  public CompletableFuture<Void> synced() {
    return synced.copy();
  }

  public ListenerView view() {
    return view.get();
  }

  /** Drops pending changes; a running call ends by itself. Idempotent. */
  @Override
  public void close() {
    remove.run();
  }
}
