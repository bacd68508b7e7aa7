package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import dev.activator.proxy.held.RequestBody;
import dev.activator.proxy.policy.time.Budget;
import dev.activator.proxy.policy.time.Patience;
import dev.activator.throttle.Admission.QueueEntry;
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
  private final QueueEntry place;
  private final RequestBody body;
  private final Patience patience;
  private final long arrivedNanos;
  private final Consumer<Budget> whenOver;
  private Loop.@Nullable Timer timer;

  /**
   * Begins it.
   *
   * @param body counts for the revision as long as it lasts
   * @param whenOver told which limit ended it, if one does; then it is not ended yet
   */
  Stay(Worker worker, QueueEntry place, RequestBody body, Patience patience, long arrivedNanos,
      Consumer<Budget> whenOver) {
    this.worker = worker;
    this.place = place;
    this.body = body;
    this.patience = patience;
    this.arrivedNanos = arrivedNanos;
    this.whenOver = whenOver;
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

  /** How much of the body may be held meanwhile. */
  int window() {
    return worker.held().windowWhileQueued(place.heldBytes());
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
    body.waitsNoMore();
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
