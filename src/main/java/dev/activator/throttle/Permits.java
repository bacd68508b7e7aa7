package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.throttle.admission.Permit;
import dev.activator.throttle.admission.Place;
import dev.activator.throttle.admission.Waiter;
import dev.activator.throttle.policy.Balancer;
import dev.activator.throttle.policy.Loads;
import dev.activator.throttle.policy.Ramp;
import dev.activator.throttle.policy.Subset;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
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
  /** Who is told what any thread finds when it gives a permit back. */
  interface Owner {
    /** A permit came back and somebody waits, or a closed destination has become idle. */
    void wake();

    /** A destination is given fewer requests for a while. */
    void narrowed();

    /** A request could not be delivered: its place, or null. Its permit is the owner's now. */
    @Nullable Place retry(Pod pod, Waiter waiter);
  }

  private final RandomGenerator random;
  private final Owner owner;
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicInteger cursor = new AtomicInteger();
  private final Map<Destination, Pod> known = new HashMap<>();
  private final Narrowed narrowed = new Narrowed();
  private volatile Share share = Share.NONE;
  private volatile List<Pod> pods = List.of();
  /** How many a new destination is given at first; 0 for any number. */
  private volatile int rampStart;

  /**
   * @param random drawn from by many threads at once
   * @param owner told on whatever thread gave a permit back
   */
  Permits(RandomGenerator random, Owner owner) {
    this.random = random;
    this.owner = owner;
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

  /** One more waits, however many do. */
  void enterAgain() {
    waiting.getAndIncrement();
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
      owner.wake();
    }
  }

  /** A request was broken off there. */
  void broken(Pod pod) {
    if (rampStart > 0) {
      pod.narrow();
      owner.narrowed();
    }
  }

  @Nullable Place retry(Pod pod, Waiter waiter) {
    return owner.retry(pod, waiter);
  }

  /**
   * From now on permits are for these destinations. What runs elsewhere is not forgotten.
   *
   * @param rampStart how many a new one is given at first; 0 for any number
   */
  void route(Subset subset, Balancer balancer, int rampStart) {
    this.rampStart = rampStart;
    var now = subset.destinations().stream().map(this::pod).toArray(Pod[]::new);
    for (var pod : now) {
      pod.open(rampStart > 0 ? rampStart : Loads.UNLIMITED);
    }
    if (rampStart == 0) {
      known.values().forEach(Pod::endRamp);
      narrowed.clear();
    }
    share = new Share(now, subset.limit(), subset.capacity(), balancer);
    // Only now, so that who finds a pod closed and looks again sees the newer share.
    var open = Set.of(now);
    known.values().stream().filter(pod -> !open.contains(pod)).forEach(Pod::close);
    dropOver();
    pods = List.copyOf(known.values());
  }

  private Pod pod(Destination destination) {
    return known.computeIfAbsent(destination,
        it -> new Pod(it, this, narrowed.take(it)));
  }

  private boolean dropOver() {
    return known.values().removeIf(pod -> {
      if (pod.isOver() && pod.window() < rampStart) {
        narrowed.remember(pod.destination(), pod.window());
      }
      return pod.isOver();
    });
  }

  /** Drops closed destinations on which nothing runs any more. */
  void forgetClosed() {
    if (known.size() > share.size() && dropOver()) {
      pods = List.copyOf(known.values());
    }
  }

  /** Gives new destinations more; returns whether some still get fewer than they could take. */
  boolean widen() {
    for (var pod : share.pods()) {
      pod.widen(Ramp::later);
    }
    return isRamping();
  }

  boolean isRamping() {
    return Stream.of(share.pods()).anyMatch(Pod::isRamping);
  }

  int capacity() {
    return share.capacity();
  }

  /** How many run, on closed destinations too. */
  int inFlight() {
    return pods.stream().mapToInt(Pod::inFlight).sum();
  }

  /** Every destination on which something runs or may run, in order. */
  List<ThrottleView.PodView> view() {
    return pods.stream().map(pod -> new ThrottleView.PodView(pod.destination(), pod.inFlight()))
        .sorted(Comparator.comparing(ThrottleView.PodView::destination)).toList();
  }
}
