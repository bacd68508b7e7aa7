package dev.activator.testing.faults;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * A fault that hits certain requests for a while; who added it holds on to it.
 *
 * <p>
 * <b>Threads.</b> Any thread may call the public methods; the counts are written inside the lock of
 * {@link Faults}.
 */
public final class Rule {
  private final Match match;
  private final Fault fault;
  private final Lifetime lifetime;
  private final long bornNanos;
  private final Faults owner;
  private long matched;
  private volatile long fired;

  Rule(Match match, Fault fault, Lifetime lifetime, Faults owner) {
    this.match = match;
    this.fault = fault;
    this.lifetime = lifetime;
    this.owner = owner;
    this.bornNanos = owner.nanoTime();
  }

  public Fault fault() {
    return fault;
  }

  /** How many requests it has hit. */
  public long fired() {
    return fired;
  }

  /** It hits nothing from now on. What it did to connections that are open stays. */
  public void remove() {
    owner.remove(this);
  }

  /** Waits until it has hit this many requests. */
  public void awaitFired(long times, Duration timeout) {
    owner.journal().await(() -> fired >= times, timeout,
        () -> fault + " hit " + fired + " requests, not " + times);
  }

  /** Whether it hits this request, which it counts. */
  boolean hits(Asked asked, RandomGenerator random, long nowNanos) {
    if (over(nowNanos) || !match.fits(asked)) {
      return false;
    }
    matched++;
    if (!match.turn().hits(matched, random)) {
      return false;
    }
    fired++;
    return true;
  }

  boolean over(long nowNanos) {
    return switch (lifetime) {
      case Lifetime.Times(long hits) -> fired >= hits;
      case Lifetime.During(Duration duration) -> nowNanos - bornNanos >= duration.toNanos();
    };
  }
}
