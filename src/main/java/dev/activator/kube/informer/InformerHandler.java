package dev.activator.kube.informer;

import dev.activator.loop.Loop;

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

  /**
   * The options of one informer handler: its name, its loop, and whether it is resynced.
   *
   * @param resynced whether the handler gets each object again in each period of the informer
   */
  record InformerHandlerOptions(String name, Loop loop, boolean resynced) {
    public static InformerHandlerOptions on(Loop loop, String name) {
      return new InformerHandlerOptions(name, loop, false);
    }
  }
}
