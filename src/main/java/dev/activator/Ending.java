package dev.activator;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the process ends: in order when it is told to or cannot go on, at once when it is told again.
 *
 * <p>
 * <b>Threads.</b> Any may call.
 *
 * <p>
 * <b>Errors.</b> The exit code is 0 after a signal, and 1 after a failure, a signal during the start,
 * or a second signal.
 *
 * <p>
 * <b>Source.</b> {@code signals.NewContext} of {@code knative.dev/pkg}, and the end of {@code
 * cmd/activator/main.go}, which exits with 0 after a listener that failed, too.
 */
final class Ending {
  private static final Logger log = LoggerFactory.getLogger(Ending.class);

  private enum Phase {
    STARTING, RUNNING, ENDING
  }

  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.STARTING);
  private final Runnable abandonStart;
  private final IntConsumer exit;
  private final IntConsumer halt;
  private volatile Runnable drainSoon = () -> {
  };

  /**
   * A process that is starting.
   *
   * @param abandonStart ends a start that is under way
   * @param exit begins to end in order, with an exit code, and returns at once
   * @param halt ends without any order
   */
  Ending(Runnable abandonStart, IntConsumer exit, IntConsumer halt) {
    this.abandonStart = abandonStart;
    this.exit = exit;
    this.halt = halt;
  }

  /**
   * The start is over.
   *
   * @param drainSoon makes it unready, which is to be seen at once when it is told to end
   * @return whether it may run; if not, it was told to end meanwhile
   */
  boolean running(Runnable drainSoon) {
    this.drainSoon = drainSoon;
    return phase.compareAndSet(Phase.STARTING, Phase.RUNNING);
  }

  /** It is told to end. */
  void signal(String name) {
    switch (phase.getAndSet(Phase.ENDING)) {
      case STARTING -> {
        log.info("Told to end by SIG{}, while still starting", name);
        abandonStart.run();
      }
      case RUNNING -> {
        log.info("Told to end by SIG{}", name);
        drainSoon.run();
        exit.accept(0);
      }
      case ENDING -> {
        log.error("Told to end again, by SIG{}: ends at once", name);
        halt.accept(1);
      }
    }
  }

  /** Something without which it is of no use is gone. */
  void failed(String what) {
    if (phase.compareAndSet(Phase.RUNNING, Phase.ENDING)) {
      log.error("{}; ends in order", what);
      drainSoon.run();
      exit.accept(1);
    }
  }
}
