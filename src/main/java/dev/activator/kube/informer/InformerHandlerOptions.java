package dev.activator.kube.informer;

import dev.activator.loop.Loop;
import java.time.Duration;

/**
 * The options of one informer handler: its name, its loop, and its resync period.
 *
 * @param resync the resync period; zero for never
 */
public record InformerHandlerOptions(String name, Loop loop, Duration resync) {
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
