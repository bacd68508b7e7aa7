package dev.activator.ext.lending;

import dev.activator.loop.Loop;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;

/** The loop of one simulated process: its clock runs at its own rate, and it may stand still. */
final class SkewedLoop implements Loop {
  private final VirtualLoop world;
  private final double rate;
  private final long origin;
  private final long turnNanos;
  /** What was due while it stood still. */
  private final Queue<Runnable> waiting = new ArrayDeque<>();
  private long lastNanos;
  private long pausedUntil;
  private boolean dead;
  private Runnable afterEach = () -> {
  };

  SkewedLoop(VirtualLoop world, double rate, long origin, long turnNanos) {
    this.world = world;
    this.rate = rate;
    this.origin = origin;
    this.turnNanos = turnNanos;
  }

  void pause(Duration realTime) {
    pausedUntil = Math.max(pausedUntil, now() + realTime.toNanos());
  }

  /** Called after each task. */
  void afterEach(Runnable check) {
    afterEach = check;
  }

  boolean isPaused() {
    return now() < pausedUntil;
  }

  /** Runs nothing any more. */
  void end() {
    dead = true;
  }

  private long now() {
    return world.elapsed().toNanos();
  }

  @Override
  public void execute(Runnable task) {
    lastNanos = Math.max(lastNanos, now() + turnNanos);
    world.schedule(Duration.ofNanos(lastNanos - now()), () -> run(task));
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    return world.schedule(Duration.ofNanos((long) (Math.max(0, delay.toNanos()) / rate) + 1),
        () -> run(task));
  }

  private void run(Runnable task) {
    if (dead) {
      return;
    }
    if (isPaused() || !waiting.isEmpty()) {
      if (waiting.isEmpty()) {
        world.schedule(Duration.ofNanos(pausedUntil - now()), this::resume);
      }
      waiting.add(task);
      return;
    }
    task.run();
    afterEach.run();
  }

  private void resume() {
    if (isPaused()) {
      world.schedule(Duration.ofNanos(pausedUntil - now()), this::resume);
      return;
    }
    while (!waiting.isEmpty() && !dead) {
      waiting.remove().run();
      afterEach.run();
    }
  }

  @Override
  public long nanoTime() {
    return origin + (long) (now() * rate);
  }
}
