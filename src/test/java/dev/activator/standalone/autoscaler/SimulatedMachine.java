package dev.activator.standalone.autoscaler;

import dev.activator.loop.Loop;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;

/**
 * A loop whose process can stand still and whose clocks go a little fast or slow, and its wall clock,
 * which is wrong by up to an hour.
 */
final class SimulatedMachine implements Loop {
  private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");

  private final VirtualLoop clock;
  private final Random random;
  private final double rate;
  private final long origin;
  private Duration wallOffset;
  private final Deque<Runnable> due = new ArrayDeque<>();
  private boolean paused;
  private boolean clockStands;
  private final boolean sleeps;
  private long pausedAt;
  private long lost;
  private boolean dead;

  /** @param drift how much faster or slower than true its clock may go, such as 0.05 */
  SimulatedMachine(VirtualLoop clock, Random random, double drift) {
    this.clock = clock;
    this.random = random;
    this.rate = 1 + drift * (2 * random.nextDouble() - 1);
    // Half of the clocks pass the largest number during the simulation.
    this.origin = random.nextBoolean()
        ? Long.MAX_VALUE - Duration.ofSeconds(random.nextInt(600)).toNanos()
        : random.nextLong() >> 8;
    this.sleeps = random.nextBoolean();
    this.wallOffset = Duration.ofSeconds(random.nextInt(7_200) - 3_600);
  }

  @Override
  public void execute(Runnable task) {
    due.add(task);
    clock.schedule(Duration.ofNanos(random.nextInt(300_000)), this::turn);
  }

  private void turn() {
    if (!paused && !dead && !due.isEmpty()) {
      due.remove().run();
    }
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    var cancelled = new boolean[1];
    var timer = clock.schedule(Duration.ofNanos((long) (Math.max(0, delay.toNanos()) / rate)),
        () -> execute(() -> {
          if (!cancelled[0]) {
            task.run();
          }
        }));
    return () -> {
      cancelled[0] = true;
      timer.cancel();
    };
  }

  @Override
  public long nanoTime() {
    long standing = paused && clockStands ? now() - pausedAt : 0;
    return origin + (long) (rate * (now() - lost - standing));
  }

  /** By a clock that is right. */
  private long now() {
    return clock.elapsed().toNanos();
  }

  /** The process does nothing for this long; its monotonic clock may stand still as well. */
  void pause(Duration length) {
    if (paused || dead) {
      return;
    }
    paused = true;
    clockStands = sleeps;
    pausedAt = now();
    clock.schedule(length, this::resume);
  }

  private void resume() {
    paused = false;
    lost += clockStands ? now() - pausedAt : 0;
    // Everything that was due comes in one go, in order.
    for (int i = due.size(); i > 0; i--) {
      clock.schedule(Duration.ofNanos(random.nextInt(300_000)), this::turn);
    }
  }

  boolean isPaused() {
    return paused;
  }

  void kill() {
    dead = true;
  }

  /** Sets the wall clock, except of a machine whose monotonic clock may stand still. */
  void setWallClock() {
    if (!sleeps) {
      wallOffset = wallOffset.plusMillis(random.nextInt(40_000) - 20_000);
    }
  }

  Clock wallClock() {
    return new Clock() {
      @Override
      public ZoneId getZone() {
        return ZoneOffset.UTC;
      }

      @Override
      public Clock withZone(ZoneId zone) {
        return this;
      }

      @Override
      public Instant instant() {
        return NOON.plus(wallOffset).plusNanos((long) (rate * now()));
      }
    };
  }
}
