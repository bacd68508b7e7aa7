package dev.activator.cluster.informer;

/**
 * What wants to hear of changes.
 *
 * <p>
 * <b>Threads.</b> Called on the loop it was registered with, one call at a time, in the order of the
 * changes. It may block if that loop is its own, and may read the store and register others.
 *
 * <p>
 * <b>Errors.</b> A call that throws is logged and counted, and the next comes a second later.
 */
@FunctionalInterface
public interface Handler<T> {
  /** This changed. The store holds it, or something newer. */
  void on(Notification<T> notification);
}
