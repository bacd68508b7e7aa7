package dev.activator.meters;

import dev.activator.loop.LoopDelay;
import java.time.Duration;
import java.util.List;
import java.util.function.DoubleSupplier;
import java.util.stream.DoubleStream;

/**
 * The saturation of the process, from 0 to 1: the highest of the used shares of the processors, of
 * the memory for requests, and of the event loops, by their delay.
 *
 * @param processors the used share of the processors; negative or NaN if unknown
 * @param memory the used share of the memory that requests may hold
 */
public record ProcessSaturation(DoubleSupplier processors, DoubleSupplier memory,
    List<LoopDelay> loops)
    implements DoubleSupplier {
  /** An event loop that is this late counts as overloaded. */
  private static final Duration LATE = Duration.ofMillis(50);

  public ProcessSaturation {
    loops = List.copyOf(loops);
  }

  @Override
  public double getAsDouble() {
    double late = loops.stream().mapToLong(LoopDelay::nanos).max().orElse(0)
        / (double) LATE.toNanos();
    return DoubleStream.of(processors.getAsDouble(), memory.getAsDouble(), late)
        .filter(Double::isFinite).map(share -> Math.clamp(share, 0, 1)).max().orElse(0);
  }
}
