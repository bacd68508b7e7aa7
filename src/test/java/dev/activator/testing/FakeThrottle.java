package dev.activator.testing;

import dev.activator.throttle.policy.WaitLimits;
import dev.activator.revision.Destination;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.PodTransport;
import dev.activator.revision.RevisionId;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** This many permits for one destination, and a queue. */
public final class FakeThrottle {
  static final int RETRY_AFTER_SECONDS = 7;

  private final Deque<Waiting> queue = new ArrayDeque<>();
  private final Map<RevisionId, AtomicLong> heldBytes = new ConcurrentHashMap<>();
  private final Map<RevisionId, Destination> own = new ConcurrentHashMap<>();
  private Destination destination = new Destination("127.0.0.1", 1);
  private int free;
  private int inFlight;
  private int granted;
  private int retried;
  public final AtomicInteger broken = new AtomicInteger();
  /** Permits of requests whose callers left, or whose time was over, while they ran. */
  public final AtomicInteger abandoned = new AtomicInteger();
  /** How the destinations are reached; null for what the revision says. */
  public volatile @Nullable PodTransport transport;
  /** Whether pods are no longer listed. */
  public volatile boolean withdrawn;
  /** Runs before a permit comes back, on the loop of its request. */
  public volatile Runnable onRelease = () -> {
  };
  private boolean retriesAllowed = true;
  private boolean keepsPermits;
  private @Nullable Destination retriesGoTo;
  public volatile Duration queueTimeout = Duration.ZERO;
  public volatile Duration startTimeout = Duration.ZERO;
  public volatile long podsNanos = WaitLimits.NO_PODS;

  public synchronized ThrottleDecision admit(LiveRevision revision, QueuedCaller waiter) {
    if (free > 0 && queue.isEmpty()) {
      return take(revision);
    }
    if (!waiter.mayWait()) {
      return new ThrottleDecision.NoRoom();
    }
    var waiting = new Waiting(revision, waiter);
    queue.add(waiting);
    return waiting;
  }

  /** From now on there is this destination, which can run this many more. */
  public synchronized void grow(Destination to, int permits) {
    destination = to;
    free += permits;
    grant();
  }

  /** Requests of this revision go here, whatever destination there is for others. */
  public void send(RevisionId revision, Destination to) {
    own.put(revision, to);
  }

  /** From now on nothing may run, until there is room again. */
  public synchronized void stop() {
    free = 0;
  }

  /** Rejects all that wait. */
  public synchronized void reject(Rejection reason) {
    for (var waiting : queue) {
      waiting.waiter.loop().execute(() -> waiting.waiter.rejected(reason));
    }
    queue.clear();
  }

  public synchronized int queued() {
    return queue.size();
  }

  /** From the next retry on, requests go here. */
  public synchronized void retriesGoTo(Destination other) {
    retriesGoTo = other;
  }

  /** Permits that come back are not given again. */
  public synchronized void keepPermits() {
    keepsPermits = true;
  }

  public synchronized void allowNoRetries() {
    retriesAllowed = false;
  }

  public synchronized int retried() {
    return retried;
  }

  /** Permits, since the start. */
  public synchronized int granted() {
    return granted;
  }

  public synchronized int inFlight() {
    return inFlight;
  }

  private void grant() {
    while (free > 0 && !queue.isEmpty()) {
      var next = queue.poll();
      var permit = take(next.revision);
      next.waiter.loop().execute(() -> next.granted(permit));
    }
  }

  private Slot take(LiveRevision revision) {
    free--;
    inFlight++;
    granted++;
    var reached = transport;
    return new Slot(revision, own.getOrDefault(revision.id(), destination),
        reached == null ? revision.spec().transport() : reached);
  }

  private final class Waiting implements QueueEntry {
    private final LiveRevision revision;
    private final QueuedCaller waiter;
    private final AtomicLong held;
    private boolean gaveUp;

    private Waiting(LiveRevision revision, QueuedCaller waiter) {
      this.revision = revision;
      this.waiter = waiter;
      this.held = heldBytes.computeIfAbsent(revision.id(), _ -> new AtomicLong());
    }

    private void granted(Permit permit) {
      if (gaveUp) {
        permit.release(Ending.ANSWERED);
      } else {
        waiter.granted(permit);
      }
    }

    @Override
    public WaitLimits limits() {
      return new WaitLimits(queueTimeout, startTimeout);
    }

    @Override
    public long podsNanos() {
      return podsNanos;
    }

    @Override
    public int retryAfterSeconds() {
      return RETRY_AFTER_SECONDS;
    }

    @Override
    public void addHeldBytes(int moreBytes) {
      held.addAndGet(moreBytes);
    }

    @Override
    public long heldBytes() {
      return held.get();
    }

    @Override
    public void giveUp() {
      gaveUp = true;
      synchronized (FakeThrottle.this) {
        queue.remove(this);
      }
    }
  }

  private final class Slot implements Permit {
    private final LiveRevision revision;
    private final Destination pod;
    private final PodTransport reached;
    private boolean released;

    private Slot(LiveRevision revision, Destination pod, PodTransport reached) {
      this.revision = revision;
      this.pod = pod;
      this.reached = reached;
    }

    @Override
    public Destination destination() {
      return pod;
    }

    @Override
    public boolean isPod() {
      return true;
    }

    @Override
    public PodTransport transport() {
      return reached;
    }

    @Override
    public boolean isWithdrawn() {
      return withdrawn;
    }

    @Override
    public void release(Ending ending) {
      onRelease.run();
      switch (ending) {
        case BROKEN -> broken.incrementAndGet();
        case ABANDONED -> abandoned.incrementAndGet();
        case ANSWERED, UNCOUNTED -> {
        }
      }
      giveBack();
    }

    @Override
    public @Nullable QueueEntry retry(QueuedCaller waiter, boolean connected) {
      onRelease.run();
      synchronized (FakeThrottle.this) {
        var waiting = retriesAllowed || !connected ? new Waiting(revision, waiter) : null;
        if (waiting != null) {
          retried++;
          queue.addFirst(waiting);
        }
        destination = retriesGoTo == null ? destination : retriesGoTo;
        giveBack();
        return waiting;
      }
    }

    private void giveBack() {
      synchronized (FakeThrottle.this) {
        if (released) {
          throw new AssertionError("released twice");
        }
        released = true;
        inFlight--;
        free += keepsPermits ? 0 : 1;
        grant();
      }
    }
  }
}
