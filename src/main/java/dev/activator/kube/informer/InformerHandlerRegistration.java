package dev.activator.kube.informer;

import dev.activator.kube.informer.Informer.InformerStatus.ListenerView;
import java.util.concurrent.CompletableFuture;

/**
 * The registration of a handler. Closing it removes the handler.
 *
 * <p><b>Threads.</b> Any, including the handler's own.
 */
public interface InformerHandlerRegistration extends AutoCloseable {
  /** Whether the handler has handled all initial objects. */
  boolean hasSynced();

  /**
   * Completes on the handler's loop when it has handled all initial objects; cancelled if it is
   * removed before.
   */
  CompletableFuture<Void> synced();

  ListenerView view();

  /**
   * Removes the handler and drops its pending changes. A running call is not interrupted.
   * Idempotent.
   */
  @Override
  void close();
}
