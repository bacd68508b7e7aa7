package dev.activator.cluster.informer;

/**
 * Receives changes from an informer.
 *
 * <p><b>Threads.</b> Called on its loop, in order; may block only if that loop is its own.
 *
 * <p><b>Errors.</b> If it throws, the change is skipped, and the next follows a second later.
 */
@FunctionalInterface
public interface InformerHandler<T> {
  /** The store holds this change or a newer one. */
  void on(InformerNotification<T> notification);
}
