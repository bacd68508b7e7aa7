package dev.activator.cluster.informer;

/**
 * Called with each change of the objects of one kind.
 *
 * <p>
 * <b>Threads.</b> Called on the loop it was registered with, one call at a time, in the order of the
 * changes. It may block only if that loop is its own. It may read the store and register others.
 *
 * <p>
 * <b>Errors.</b> A call that throws is logged and counted, and the next one comes a second later.
 */
@FunctionalInterface
public interface Handler<T> {
  /** The store holds this change or a newer one. */
  void on(Notification<T> notification);
}
