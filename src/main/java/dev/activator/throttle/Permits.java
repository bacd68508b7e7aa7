package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.throttle.policy.Balancer;
import dev.activator.throttle.policy.Subset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The permits of one revision, and the gate before them: shut while anybody waits, so that nobody
 * overtakes.
 *
 * <p>
 * No wake-up is lost. Who finds no permit first shuts the gate, then looks again, on the loop; who
 * releases first gives the permit back, then looks at the gate. Both are volatile accesses in
 * program order, so at least one of the two sees the other.
 *
 * <p>
 * <b>Threads.</b> Any thread takes and releases, enters and leaves. {@link #route} and {@link
 * #forgetClosed} belong to the revision's loop.
 */
final class Permits {
  private final RandomGenerator random;
  private final Runnable wake;
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicInteger cursor = new AtomicInteger();
  private final Map<Destination, Pod> known = new HashMap<>();
  private volatile Share share = Share.NONE;
  private volatile List<Pod> pods = List.of();

  /**
   * @param random drawn from by many threads at once
   * @param wake called, on whatever thread released, when a permit came back and somebody waits, or
   *     when a closed destination has become idle
   */
  Permits(RandomGenerator random, Runnable wake) {
    this.random = random;
    this.wake = wake;
  }

  /** A permit, unless there is none, or somebody waits who was here before. */
  @Nullable Permit tryAcquire() {
    return waiting.get() == 0 ? acquireForHead() : null;
  }

  /** A permit for the head of the queue, which the gate is there to protect. */
  @Nullable Permit acquireForHead() {
    while (true) {
      var now = share;
      int start = cursor.getOpaque();
      int position = now.balancer().pick(now, start, random);
      if (position == Balancer.NONE) {
        return null;
      }
      var pod = now.pods()[position];
      if (pod.tryAcquire(now.limit())) {
        // Two at once may both move the cursor on from the same place: fair enough.
        int next = now.balancer().cursorAfter(position, start);
        if (next != start) {
          cursor.setOpaque(next);
        }
        return pod;
      }
    }
  }

  /** One more waits and the gate is shut; or, if that many wait already, nothing happens. */
  boolean tryEnter(int queueBound) {
    int now = waiting.get();
    while (now < queueBound) {
      if (waiting.compareAndSet(now, now + 1)) {
        return true;
      }
      now = waiting.get();
    }
    return false;
  }

  /** One fewer waits. */
  void leave() {
    waiting.getAndDecrement();
  }

  /** How many wait, those on their way to the queue included. */
  int waiting() {
    return waiting.get();
  }

  /** A permit came back; {@code closedAndIdle} if it was the last of a closed destination. */
  void released(boolean closedAndIdle) {
    if (closedAndIdle || waiting.get() != 0) {
      wake.run();
    }
  }

  /** From now on permits are for these destinations. What runs elsewhere is not forgotten. */
  void route(Subset subset, Balancer balancer) {
    var now = subset.destinations().stream()
        .map(destination -> known.computeIfAbsent(destination, it -> new Pod(it, this)))
        .toArray(Pod[]::new);
    for (var pod : now) {
      pod.open();
    }
    share = new Share(now, subset.limit(), subset.capacity(), balancer);
    // Only now, so that who finds a pod closed and looks again sees the newer share.
    var open = Set.of(now);
    known.values().stream().filter(pod -> !open.contains(pod)).forEach(Pod::close);
    known.values().removeIf(Pod::isOver);
    pods = List.copyOf(known.values());
  }

  /** Drops closed destinations on which nothing runs any more. */
  void forgetClosed() {
    if (known.size() > share.size() && known.values().removeIf(Pod::isOver)) {
      pods = List.copyOf(known.values());
    }
  }

  int capacity() {
    return share.capacity();
  }

  /** Every destination on which something runs or may run. */
  List<Pod> pods() {
    return pods;
  }
}
