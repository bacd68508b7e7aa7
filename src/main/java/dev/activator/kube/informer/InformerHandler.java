package dev.activator.kube.informer;

/**
 * Receives changes from an informer.
 *
 * <p><b>Threads.</b> Called on the handler's loop, in order. It may block only if that loop is not
 * shared.
 *
 * <p><b>Errors.</b> If it throws, the change is skipped, and the next change follows a second
 * later.
 */
@FunctionalInterface
public interface InformerHandler<T> {
  /** Handles a change. The store has this version or a newer one. */
  void on(InformerNotification<T> notification);
}
