package dev.activator.kube.policy;

import dev.activator.revision.LeaseClient.LeaseRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The state of one candidate in an election by a lease. A candidate takes a lease only after it has
 * observed it unchanged for the lease's duration, so clocks of different machines are never
 * compared. A leader gives up long before that. It measures time from the moment before it sent its
 * last successful renewal.
 *
 * <p><b>Source.</b> {@code tools/leaderelection} of client-go. Decision 049 explains why fabric8's
 * implementation is not used.
 */
public final class LeaderElectionState {
  private static final double JITTER = 1.2;
  private static final double FOLLOWER_JITTER = 0.2;
  private static final Duration LONG_AGO = Duration.ofDays(365);
  /**
   * How much two clocks of one machine may diverge within a renewal. A larger difference means that
   * the machine was suspended.
   */
  private static final long SLEEP = Duration.ofSeconds(1).toNanos();

  /**
   * @param lease the duration after which another candidate may take over; whole seconds
   * @param renew the time after which a leader that could not renew gives up
   * @param retry the time between two attempts
   * @param write the longest time that a leader's write takes
   */
  public record Times(Duration lease, Duration renew, Duration retry, Duration write) {
    public static final Times DEFAULT = new Times(Duration.ofSeconds(15), Duration.ofSeconds(10),
        Duration.ofSeconds(2), Duration.ofSeconds(2));

    public Times {
      require(lease.compareTo(renew) > 0, "the lease must be longer than the renew deadline");
      require(renew.toNanos() > (1 + JITTER) * retry.toNanos(),
          "the renew deadline must be longer than the longest pause between attempts");
      require(renew.minus(write).compareTo(retry) > 0,
          "what a write leaves of the renew deadline must be longer than the retry period");
      require(lease.toNanosPart() == 0, "the lease must be whole seconds");
    }

    private static void require(boolean valid, String otherwise) {
      if (!valid) {
        throw new IllegalArgumentException(otherwise);
      }
    }
  }

  /**
   * One moment on two clocks. The first never goes back, but may stand still while the machine is
   * suspended. The second may be set.
   */
  public record Moment(long nanos, Instant wall) {
    /** Nanoseconds since an earlier moment, by the clock on which more time has passed. */
    long since(Moment earlier) {
      return Math.max(nanos - earlier.nanos, wallNanosSince(earlier));
    }

    /** Whether the machine was suspended in between, so that its timers cannot be trusted. */
    boolean sleptSince(Moment earlier) {
      return wallNanosSince(earlier) > nanos - earlier.nanos + SLEEP;
    }

    /**
     * Nanoseconds by the wall clock, limited because a clock may be set by more years than fit into
     * a long.
     */
    private long wallNanosSince(Moment earlier) {
      var passed = Duration.between(earlier.wall, wall);
      return passed.compareTo(LONG_AGO) > 0
          ? LONG_AGO.toNanos()
          : passed.compareTo(LONG_AGO.negated()) < 0 ? -LONG_AGO.toNanos() : passed.toNanos();
    }
  }

  private final String identity;
  private final Times times;
  private @Nullable LeaseRecord observed;
  private long observedAt;
  /** The moment before the last successful renewal was sent; null while this candidate does not lead. */
  private @Nullable Moment renewed;
  /** Whether the lease may have changed since it was observed. */
  private boolean stale;

  public LeaderElectionState(String identity, Times times) {
    this.identity = identity;
    this.times = times;
  }

  /**
   * Records the lease as it was read. Returns the lease to write to become leader; null to wait.
   */
  public @Nullable LeaseRecord read(LeaseRecord lease, Moment now) {
    if (observed == null || !observed.version().equals(lease.version())) {
      observedAt = now.nanos;
    }
    observed = lease;
    stale = false;
    if (lease.holder().equals(identity)) {
      return next(lease, now, lease.transitions(), lease.acquired());
    }
    renewed = null;
    boolean free = lease.holder().isEmpty() || unchangedFor(now) >= duration(lease);
    return free ? next(lease, now, after(lease), now.wall) : null;
  }

  /**
   * Records that there is no lease. Returns the lease to create; null to wait. A lease that was
   * deleted while another candidate had it counts until it would have expired.
   */
  public @Nullable LeaseRecord absent(Moment now) {
    boolean taken = observed != null && !observed.holder().isEmpty()
        && !observed.holder().equals(identity) && unchangedFor(now) < duration(observed);
    if (taken) {
      return null;
    }
    int transitions = observed == null ? 0 : after(observed);
    renewed = null;
    return new LeaseRecord(identity, seconds(), transitions, now.wall, now.wall, "");
  }

  /** The lease that a leader writes to keep leading; null if this candidate does not lead. */
  public @Nullable LeaseRecord renewal(Moment now) {
    return leads(now) && observed != null && !stale
        ? next(observed, now, observed.transitions(), observed.acquired())
        : null;
  }

  /**
   * The lease that a leader writes when it stops; null if this candidate does not lead, or the
   * lease must be read first.
   */
  public @Nullable LeaseRecord release(Moment now) {
    var current = observed;
    return !stale && leads(now) && current != null ? release(current, now) : null;
  }

  /** The lease that releases the one that was read, if that is ours; null if it is not. */
  public @Nullable LeaseRecord release(LeaseRecord read, Moment now) {
    return read.holder().equals(identity)
        ? new LeaseRecord("", 1, read.transitions(), read.acquired(), now.wall, read.version())
        : null;
  }

  /** Whether a write was refused or not answered, so that the lease may or may not be ours. */
  public boolean isUncertain() {
    return stale;
  }

  /**
   * Records that a write has succeeded, so this candidate leads.
   *
   * @param sent the moment before the write was sent
   */
  public void wrote(LeaseRecord written, Moment sent, Moment now) {
    observed = written;
    observedAt = now.nanos;
    stale = false;
    renewed = written.holder().equals(identity) ? sent : null;
  }

  /** Records that a write was refused or not answered, so the lease must be read. */
  public void notWritten() {
    stale = true;
  }

  /** Stops leading, for instance because the lease belongs to another candidate. */
  public void giveUp() {
    renewed = null;
    stale = true;
  }

  /** Whether this candidate leads. It must stop writing earlier; see {@link #mayWrite}. */
  public boolean leads(Moment now) {
    return leadsFor(times.renew, now);
  }

  /** Whether a write that begins now ends while this candidate leads. */
  public boolean mayWrite(Moment now) {
    return leadsFor(times.renew.minus(times.write), now);
  }

  private boolean leadsFor(Duration length, Moment now) {
    return renewed != null && !now.sleptSince(renewed) && now.since(renewed) < length.toNanos();
  }

  /** Whether the lease, as just read from the API, still belongs to this candidate's term. */
  public boolean isOurs(LeaseRecord lease) {
    return renewed != null && observed != null && lease.holder().equals(identity)
        && lease.transitions() == observed.transitions();
  }

  /** The number of the term that was observed last; 0 if none was. */
  public int term() {
    return observed == null ? 0 : observed.transitions();
  }

  /** The current or last holder of the lease; empty if it is free or unknown. */
  public String holder() {
    return observed == null ? "" : observed.holder();
  }

  /**
   * When this candidate last observed that any holder had written the lease, in nanoseconds.
   *
   * @param otherwise the result if the lease was never observed
   */
  public long renewedAt(long otherwise) {
    return observed == null ? otherwise : observedAt;
  }

  /** How long to wait before the next attempt. */
  public Duration pause(Moment now, RandomGenerator random) {
    long retry = times.retry.toNanos();
    if (leads(now)) {
      // A leader that does not know whether its renewal succeeded must find out soon.
      return stale ? times.retry.dividedBy(4) : times.retry;
    }
    long expiry = observed == null || observed.holder().isEmpty()
        ? 0
        : duration(observed) - unchangedFor(now);
    // A renewal that a follower observes late delays the takeover by as much.
    long pause = expiry > 0 && !stale
        ? jittered(retry / 2, FOLLOWER_JITTER, random)
        : jittered(retry, JITTER, random);
    return Duration.ofNanos(expiry > 0 ? Math.min(pause, expiry) : pause);
  }

  private static long jittered(long pause, double jitter, RandomGenerator random) {
    return pause + (long) (jitter * pause * random.nextDouble());
  }

  private LeaseRecord next(LeaseRecord lease, Moment now, int transitions, Instant acquired) {
    return new LeaseRecord(identity, seconds(), transitions, acquired, now.wall, lease.version());
  }

  /** The number of the next term. The API accepts no negative number. */
  private static int after(LeaseRecord lease) {
    return lease.transitions() == Integer.MAX_VALUE ? 0 : lease.transitions() + 1;
  }

  private long unchangedFor(Moment now) {
    return now.nanos - observedAt;
  }

  private static long duration(LeaseRecord lease) {
    return Duration.ofSeconds(lease.durationSeconds()).toNanos();
  }

  private int seconds() {
    return (int) times.lease.toSeconds();
  }
}
