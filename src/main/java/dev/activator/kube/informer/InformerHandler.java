package dev.activator.kube.informer;

import dev.activator.loop.Loop;
import java.time.Duration;

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
   * The options of one informer handler: its name, its loop, and its resync period.
   *
   * @param resync the resync period; zero for never
   */
  record InformerHandlerOptions(String name, Loop loop, Duration resync) {
    public static InformerHandlerOptions on(Loop loop, String name) {
      return new InformerHandlerOptions(name, loop, Duration.ZERO);
    }

    /**
     * A copy with a resync period. The effective period is a multiple of the informer's check period.
     */
    public InformerHandlerOptions resyncedEvery(Duration period) {
      return new InformerHandlerOptions(name, loop, period);
    }
  }
}
