package dev.activator.cluster.informer;

/**
 * <b>Threads.</b> Called on its loop, in order; may block only if that loop is its own. May read
 * the store and register others.
 *
 * <p>
 * <b>Errors.</b> If it throws, the change is logged and skipped; the next follows a second later.
 */
@FunctionalInterface
public interface Handler<T> {
  /** The store holds this change or a newer one. */
  void on(Notification<T> notification);
}
