package dev.activator.embedded.runtime;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

/**
 * Probes one run of a process until it is ready.
 *
 * <p>
 * <b>Threads.</b> One loop; attempts block and have their own threads.
 *
 * <p>
 * <b>Source.</b> {@code pkg/queue/readiness/probe.go} in Knative Serving.
 */
final class ReadinessCheck {
  private static final Duration PAUSE = Duration.ofMillis(50);

  private final Loop loop;
  private final Executor threads;
  private final BooleanSupplier attempt;
  private final int successThreshold;
  private final Runnable ready;
  private int successes;
  private boolean stopped;

  /**
   * @param attempt blocks
   * @param ready called once
   */
  ReadinessCheck(Loop loop, Executor threads, BooleanSupplier attempt, int successThreshold,
      Runnable ready) {
    this.loop = loop;
    this.threads = threads;
    this.attempt = attempt;
    this.successThreshold = successThreshold;
    this.ready = ready;
  }

  void start() {
    if (!stopped) {
      threads.execute(() -> {
        boolean passed = attempt.getAsBoolean();
        loop.execute(() -> attempted(passed));
      });
    }
  }

  void stop() {
    stopped = true;
  }

  private void attempted(boolean passed) {
    successes = passed ? successes + 1 : 0;
    if (stopped) {
      return;
    }
    if (successes >= successThreshold) {
      ready.run();
    } else {
      loop.schedule(PAUSE, this::start);
    }
  }
}
