package dev.activator.app;

import dev.activator.loop.LoopDelay;
import java.time.Duration;
import java.util.List;
import java.util.function.DoubleSupplier;
import java.util.stream.DoubleStream;

/**
 * How near the activator is to its limits, 0 to 1: the nearest of them counts.
 *
 * @param processors the share of the processors that this process uses, 0 to 1; negative or not a
 *     number if that is not known
 * @param memory the share of the memory that requests may hold, 0 to 1
 * @param loops what waits on the event loops
 */
public record Saturation(DoubleSupplier processors, DoubleSupplier memory, List<LoopDelay> loops) {
  /** A loop this late has more to do than it can. */
  private static final Duration LATE = Duration.ofMillis(50);

  double now() {
    double late = loops.stream().mapToLong(LoopDelay::nanos).max().orElse(0)
        / (double) LATE.toNanos();
    return DoubleStream.of(processors.getAsDouble(), memory.getAsDouble(), late)
        .filter(Double::isFinite).map(share -> Math.clamp(share, 0, 1)).max().orElse(0);
  }
}
