package dev.activator.upstream.probe;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The one answer that a probe owes: the first that comes, or that none came in time.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 */
final class PendingAnswer {
  private final Duration timeout;
  private final Runnable close;
  private final Consumer<ProbeAnswer> done;
  private Loop.@Nullable Timer timer;
  private boolean given;

  /**
   * Makes it; the time does not run yet.
   *
   * @param close ends what the answer was to come on
   * @param done is given the answer, after that
   */
  PendingAnswer(Duration timeout, Runnable close, Consumer<ProbeAnswer> done) {
    this.timeout = timeout;
    this.close = close;
    this.done = done;
  }

  /** The time runs, from now on. */
  void begin(Loop loop) {
    timer = loop.schedule(timeout, () -> give(new ProbeAnswer.TimedOut(timeout)));
  }

  /** Whether there is one by now. */
  boolean isGiven() {
    return given;
  }

  /** Gives it, if it is the first. */
  void give(ProbeAnswer answer) {
    if (given) {
      return;
    }
    given = true;
    if (timer != null) {
      timer.cancel();
    }
    close.run();
    done.accept(answer);
  }
}
