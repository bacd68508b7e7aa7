package dev.activator.simulation;

import dev.activator.loop.Loop;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.Random;

/** One of several loops that share a clock: its tasks keep their order, and wait a little for a turn. */
final class SimulatedLoop implements Loop {
  private static final int LONGEST_WAIT_NANOS = 300_000;

  private final VirtualLoop clock;
  private final Random random;
  private long lastNanos;

  SimulatedLoop(VirtualLoop clock, Random random) {
    this.clock = clock;
    this.random = random;
  }

  @Override
  public void execute(Runnable task) {
    long now = clock.elapsed().toNanos();
    lastNanos = Math.max(lastNanos, now + random.nextInt(LONGEST_WAIT_NANOS));
    clock.schedule(Duration.ofNanos(lastNanos - now), task);
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    return clock.schedule(delay, task);
  }

  @Override
  public long nanoTime() {
    return clock.nanoTime();
  }
}
