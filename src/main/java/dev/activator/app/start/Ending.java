package dev.activator.app.start;

import dev.activator.lifecycle.Part;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the process ends: in order when it is told to or cannot go on, at once when it is told again.
 *
 * <p>
 * <b>Threads.</b> Any may call.
 *
 * <p>
 * <b>Errors.</b> The exit code is 0 after a signal, and 1 after a failure, a signal while the start
 * waits for the cluster, or a second signal.
 *
 * <p>
 * <b>Source.</b> {@code signals.NewContext} of {@code knative.dev/pkg}, and the end of {@code
 * cmd/activator/main.go}, which exits with 0 after a listener that failed, too.
 */
public final class Ending {
  private static final Logger log = LoggerFactory.getLogger(Ending.class);

  private enum Phase {
    STARTING, RUNNING, FAILING, ENDING
  }

  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.STARTING);
  private final IntConsumer exit;
  private final IntConsumer halt;
  private volatile Runnable drainSoon = () -> {
  };
  /** Who waits, if anybody does; guarded by this. */
  private @Nullable Thread waiting;

  /**
   * A process that is starting.
   *
   * @param exit begins to end in order, with an exit code, and returns at once
   * @param halt ends without any order
   */
  public Ending(IntConsumer exit, IntConsumer halt) {
    this.exit = exit;
    this.halt = halt;
  }

  /**
   * Waits in the course of the start, on the calling thread. A signal interrupts this; the rest of a
   * start takes a moment, and is not left half done.
   *
   * @throws InterruptedException if it is told to end meanwhile, or was before
   */
  public void during(Part.Start wait) throws Exception {
    waits(Thread.currentThread());
    try {
      wait.run();
    } finally {
      waits(null);
    }
  }

  private synchronized void waits(@Nullable Thread thread) throws InterruptedException {
    waiting = thread;
    if (phase.get() == Phase.ENDING) {
      // An interrupt that came too late for the wait must not meet anything else.
      var _ = Thread.interrupted();
      throw new InterruptedException("told to end while still starting");
    }
  }

  private synchronized void interruptWait() {
    if (waiting != null) {
      waiting.interrupt();
    }
  }

  /**
   * The start is over. If it was told to end meanwhile, it does so now.
   *
   * @param drainSoon makes it unready, which is to be seen at once when it is told to end
   */
  public void running(Runnable drainSoon) {
    this.drainSoon = drainSoon;
    if (!phase.compareAndSet(Phase.STARTING, Phase.RUNNING)) {
      endInOrder(0);
    }
  }

  private void endInOrder(int code) {
    drainSoon.run();
    exit.accept(code);
  }

  /** It is told to end. */
  public void signal(String name) {
    switch (phase.getAndSet(Phase.ENDING)) {
      case STARTING -> {
        log.info("Told to end by SIG{}, while still starting", name);
        interruptWait();
      }
      case RUNNING -> {
        log.info("Told to end by SIG{}", name);
        endInOrder(0);
      }
      // It ends in order already, and this is the first to tell it to.
      case FAILING -> log.info("Told to end by SIG{}, while it already does", name);
      case ENDING -> {
        log.error("Told to end again, by SIG{}: ends at once", name);
        halt.accept(1);
      }
    }
  }

  /** Something without which it is of no use is gone. */
  public void failed(String what) {
    if (phase.compareAndSet(Phase.RUNNING, Phase.FAILING)) {
      log.error("{}; ends in order", what);
      endInOrder(1);
    }
  }
}
