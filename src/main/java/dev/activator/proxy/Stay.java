package dev.activator.proxy;

import dev.activator.loop.Loop;
import dev.activator.proxy.policy.Budget;
import dev.activator.proxy.policy.Patience;
import dev.activator.throttle.Place;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request's stay in its revision's queue: what it holds meanwhile, and how long it may last.
 *
 * <p>
 * <b>Threads.</b> Only its event loop may call.
 *
 * <p>
 * <b>Units.</b> Patience runs from the request's arrival, so that one that comes back into the queue
 * has only what is left of it.
 */
final class Stay {
  private final Worker worker;
  private final Place place;
  private final int headBytes;
  private final Patience patience;
  private final long arrivedNanos;
  private final Consumer<Budget> whenOver;
  private Loop.@Nullable Timer timer;

  /**
   * Begins it.
   *
   * @param headBytes held as long as it lasts
   * @param whenOver told which limit ended it, if one does; then it is not ended yet
   */
  Stay(Worker worker, Place place, int headBytes, Patience patience, long arrivedNanos,
      Consumer<Budget> whenOver) {
    this.worker = worker;
    this.place = place;
    this.headBytes = headBytes;
    this.patience = patience;
    this.arrivedNanos = arrivedNanos;
    this.whenOver = whenOver;
    worker.held().add(headBytes);
    place.hold(headBytes);
    if (patience.ends()) {
      waitFor(patience.nanosLeft(passed()));
    }
  }

  private void waitFor(long nanos) {
    timer = worker.loop().schedule(Duration.ofNanos(Math.max(0, nanos)), this::check);
  }

  private void check() {
    var budget = over();
    if (budget == null) {
      waitFor(patience.nanosLeft(passed()));
    } else {
      whenOver.accept(budget);
    }
  }

  /** Which limit is over by now; null if none is. */
  @Nullable Budget over() {
    return patience.over(passed());
  }

  private long passed() {
    return worker.loop().nanoTime() - arrivedNanos;
  }

  /** It is over: its turn has come, or it was rejected. */
  void end() {
    worker.held().add(-headBytes);
    place.hold(-headBytes);
    if (timer != null) {
      timer.cancel();
    }
  }

  /** It is over, and the place free for another. */
  void giveUp() {
    place.giveUp();
    end();
  }
}
