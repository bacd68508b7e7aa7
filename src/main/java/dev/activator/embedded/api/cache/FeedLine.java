package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.Commit;
import dev.activator.embedded.api.Listing;
import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * The way of the commits to one cache. As a rule they pass at once.
 *
 * <p>
 * <b>Threads.</b> Belongs to the caches' loop.
 */
final class FeedLine {
  private final WatchCache cache;
  private final Loop loop;
  private final Queue<Held> held = new ArrayDeque<>();
  private State state = State.UP;
  private Duration delay = Duration.ZERO;

  private enum State {
    UP, FROZEN, DOWN
  }

  /** A commit that waits for its time. */
  private record Held(Commit commit, long dueNanos) {}

  FeedLine(WatchCache cache, Loop loop) {
    this.cache = cache;
    this.loop = loop;
  }

  void restart(Listing listing) {
    held.clear();
    cache.replace(listing);
    state = State.UP;
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

  private void deliver(Commit commit) {
    if (cache.kind().equals(commit.kind())) {
      cache.apply(commit);
    } else {
      cache.progress(commit.revision());
    }
  }
}
