package dev.activator.embedded.runtime;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * A probe that is repeated during one run of a process. It reports when the outcome changes.
 *
 * <p><b>Threads.</b> {@code loop}. Attempts block other threads.
 *
 * <p><b>Source.</b> {@code worker.go} of the kubelet's prober. Without {@code periodSeconds}, a
 * process is probed as often as in {@code pkg/queue/readiness/probe.go} of Knative Serving, until
 * it is ready, for as long as nothing listens, and otherwise for {@link #EAGER_FOR}.
 */
final class ContainerProbeWorker {
  static final Duration DEFAULT_PERIOD = Duration.ofSeconds(10);
  static final Duration EAGER_PERIOD = Duration.ofMillis(50);
  /** Later probes come once a second, so that they do not fill the log of a program that fails. */
  static final Duration EAGER_FOR = Duration.ofSeconds(5);
  private static final Duration PATIENT_PERIOD = Duration.ofSeconds(1);
  /** A command pauses as long as it took, to leave processors to the process that starts. */
  static final Duration AS_IT_TAKES = Duration.ZERO;
  private static final long MIN_PAUSE_NANOS = Duration.ofMillis(5).toNanos();
  private static final long MAX_PAUSE_NANOS = Duration.ofMillis(200).toNanos();

  /** Called on the loop. */
  interface Listener {
    /** The probe has reached the success threshold. */
    void passed();

    void failed(String problem);

    /**
     * An attempt has failed. This is called for each attempt, without regard to the failure
     * threshold.
     */
    default void attemptFailed(LocalProbe.Outcome outcome) {}
  }

  private final Loop loop;
  private final Executor threads;
  private final LocalProbe probe;
  private final Supplier<LocalProbe.Outcome> attempt;
  private final Duration firstPeriod;
  private final Listener listener;
  private int successes;
  private int failures;
  private boolean passed;
  private boolean stopped;
  private long startNanos;

  /**
   * @param firstPeriod the period until the probe has passed once, if it sets none
   * @param attempt makes an attempt
   */
  ContainerProbeWorker(Loop loop, Executor threads, LocalProbe probe, Duration firstPeriod,
      Supplier<LocalProbe.Outcome> attempt, Listener listener) {
    this.loop = loop;
    this.threads = threads;
    this.probe = probe;
    this.firstPeriod = firstPeriod;
    this.attempt = attempt;
    this.listener = listener;
  }

  void start() {
    startNanos = loop.nanoTime() + probe.initialDelay().toNanos();
    loop.schedule(probe.initialDelay(), this::begin);
  }

  /** Stops probing. The listener is not called afterwards. */
  void stop() {
    stopped = true;
  }

  private void begin() {
    if (!stopped) {
      long begunNanos = loop.nanoTime();
      threads.execute(() -> {
        var outcome = outcome();
        loop.execute(() -> attempted(outcome, Duration.ofNanos(loop.nanoTime() - begunNanos)));
      });
    }
  }

  /**
   * The outcome of an attempt. An exception is also an outcome, because otherwise no further
   * attempt would follow.
   */
  private LocalProbe.Outcome outcome() {
    try {
      return attempt.get();
    } catch (RuntimeException e) {
      return LocalProbe.Outcome.of("the probe cannot run: " + e.getMessage());
    }
  }

  private void attempted(LocalProbe.Outcome outcome, Duration took) {
    if (stopped) {
      return;
    }
    if (outcome.passed()) {
      failures = 0;
      successes++;
      if (successes == probe.successThreshold()) {
        passed = true;
        listener.passed();
      }
    } else {
      successes = 0;
      failures++;
      listener.attemptFailed(outcome);
      if (failures == probe.failureThreshold()) {
        listener.failed(outcome.problem());
      }
    }
    loop.schedule(period(took, !outcome.nothingListens()), this::begin);
  }

  private Duration period(Duration took, boolean listens) {
    if (!probe.period().isZero()) {
      return probe.period();
    }
    if (passed) {
      return DEFAULT_PERIOD;
    }
    boolean eager = !listens || loop.nanoTime() - startNanos < EAGER_FOR.toNanos()
        || firstPeriod.compareTo(PATIENT_PERIOD) > 0;
    if (!eager) {
      return PATIENT_PERIOD;
    }
    return firstPeriod.equals(AS_IT_TAKES)
        ? Duration.ofNanos(Math.clamp(took.toNanos(), MIN_PAUSE_NANOS, MAX_PAUSE_NANOS))
        : firstPeriod;
  }
}
