package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.store.Commit;
import dev.activator.embedded.api.store.Listing;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of the commits to one cache. As a rule they pass at once.
 *
 * <p>
 * <b>Threads.</b> Belongs to the caches' loop.
 */
final class FeedLine {
  private static final Logger log = LoggerFactory.getLogger(FeedLine.class);
  /** Before a cache that could not be filled is filled again. */
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final WatchCache cache;
  private final Loop loop;
  private final Runnable refill;
  private final Queue<Held> held = new ArrayDeque<>();
  private State state = State.UP;
  private Duration delay = Duration.ZERO;

  private enum State {
    UP, FROZEN, DOWN
  }

  /** A commit that waits for its time. */
  private record Held(Commit commit, long dueNanos) {}

  /**
   * The way to this cache.
   *
   * @param refill sees to it that the line is given a listing to begin anew with
   */
  FeedLine(WatchCache cache, Loop loop, Runnable refill) {
    this.cache = cache;
    this.loop = loop;
    this.refill = refill;
  }

  void restart(Listing listing) {
    held.clear();
    try {
      cache.replace(listing);
      state = State.UP;
    } catch (RuntimeException | StackOverflowError failed) {
      log.warn("The cache of {} cannot be filled; it is tried again in {}", cache.kind(), PAUSE,
          failed);
      takeDown();
      loop.schedule(PAUSE, refill);
    }
  }

  void take(Commit commit) {
    if (state == State.DOWN) {
      // The listing that ends this has it.
      return;
    }
    if (state == State.UP && delay.isZero() && held.isEmpty()) {
      deliver(commit);
      return;
    }
    held.add(new Held(commit, loop.nanoTime() + delay.toNanos()));
    loop.schedule(delay, this::deliverDue);
  }

  void freeze() {
    state = state == State.DOWN ? State.DOWN : State.FROZEN;
  }

  void delay(Duration longer) {
    delay = longer;
  }

  void free() {
    delay = Duration.ZERO;
    state = state == State.DOWN ? State.DOWN : State.UP;
    while (!held.isEmpty()) {
      deliver(held.remove().commit());
    }
  }

  void compact() {
    if (state != State.DOWN) {
      cache.compact();
    }
  }

  void takeDown() {
    state = State.DOWN;
    held.clear();
    cache.takeDown();
  }

  private void deliverDue() {
    var next = held.peek();
    while (state == State.UP && next != null && next.dueNanos() - loop.nanoTime() <= 0) {
      deliver(held.remove().commit());
      next = held.peek();
    }
  }

  /** A commit that the cache cannot take is in the listing it is filled with; none is skipped. */
  private void deliver(Commit commit) {
    try {
      tell(commit);
    } catch (RuntimeException | StackOverflowError failed) {
      log.warn("The cache of {} cannot take in revision {}; it is filled anew", cache.kind(),
          commit.revision(), failed);
      takeDown();
      refill.run();
    }
  }

  private void tell(Commit commit) {
    if (cache.kind().equals(commit.kind())) {
      cache.apply(commit);
    } else {
      cache.progress(commit.revision());
    }
  }
}
