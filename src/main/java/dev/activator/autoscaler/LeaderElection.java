package dev.activator.autoscaler;

import dev.activator.autoscaler.policy.LeaderElectionState;
import dev.activator.autoscaler.policy.LeaderElectionState.Moment;
import dev.activator.autoscaler.policy.LeaderElectionState.Times;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.LeaseApiResult;
import dev.activator.revision.LeaseClient;
import dev.activator.revision.LeaseRecord;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Elects one activator by a lease, and says whether this one may write.
 *
 * <p><b>Threads.</b> Any thread may call, except for {@link #mayWrite} and {@link #confirmed},
 * which are called on the loop. It is also the autoscaler's loop. Listeners are called on it.
 */
public final class LeaderElection implements LeadershipCheck {
  public interface Listener {
    void elected(int term);

    /** This activator no longer leads and must stop writing; done when no write is under way. */
    CompletableFuture<Void> deposed();

    /** Another identity holds the lease, or the same leads again; empty if none does. */
    void holds(String holder);
  }

  private static final Logger log = LoggerFactory.getLogger(LeaderElection.class);
  private static final Duration SOON = Duration.ofSeconds(1);

  private final Loop loop;
  private final LeaseClient leases;
  private final Listener listener;
  private final Clock clock;
  private final RandomGenerator random;
  private final Times times;
  private final LeaderElectionState election;
  private final ResettableTimer attempts;
  private final ResettableTimer giveUp;
  /** Completes when the request for the lease that is under way has ended. */
  private CompletableFuture<Void> underWay = CompletableFuture.completedFuture(null);
  private boolean elected;
  private String holder = "";
  private final long startedAt;
  private volatile View view;
  private String problem = "";
  private long failures;
  private boolean stopped;

  /**
   * What is known of the election.
   *
   * @param holder the identity of the leader; empty if it is not known
   * @param term how many times the lease has changed hands
   * @param renewedAt by the loop's clock: when this candidate last observed a new version of the lease;
   *     before that, when the candidate was created
   * @param failures how many times the lease could not be read or written
   * @param problem the error of the last read or write; empty if it succeeded
   */
  public record View(boolean leads, String holder, int term, long renewedAt, long failures,
      String problem) {}

  /** @param clock the wall clock, which shows that the machine slept */
  public LeaderElection(String identity, Loop loop, LeaseClient leases, Listener listener,
      Clock clock, RandomGenerator random, Times times) {
    this.loop = loop;
    this.leases = leases;
    this.listener = listener;
    this.clock = clock;
    this.random = random;
    this.times = times;
    this.election = new LeaderElectionState(identity, times);
    this.attempts = new ResettableTimer(loop, this::attempt);
    this.giveUp = new ResettableTimer(loop, this::notifyListener);
    this.startedAt = loop.nanoTime();
    this.view = new View(false, "", 0, startedAt, 0, "");
  }

  public void start() {
    loop.execute(() -> attempts.within(Duration.ZERO));
  }

  /** Reads the lease within a second, because its holder no longer seems to lead. */
  public void readSoon() {
    loop.execute(() -> {
      if (!stopped) {
        attempts.within(SOON);
      }
    });
  }

  /** Stops writing, then lets another take the lease; done when that is written. */
  public CompletableFuture<Void> stop() {
    return CompletableFuture.supplyAsync(() -> {
      stopped = true;
      attempts.cancel();
      giveUp.cancel();
      boolean led = elected;
      elected = false;
      publishView();
      var ending = led ? listener.deposed() : CompletableFuture.<Void>completedFuture(null);
      return ending.exceptionally(_ -> null).thenCombine(underWay, (_, _) -> "")
          .thenComposeAsync(_ -> release(), loop);
    }, loop).thenCompose(stopping -> stopping);
  }

  /** Releases the lease. Reads it first if the last write conflicted, or its answer was lost. */
  private CompletableFuture<Void> release() {
    var lease = election.release(now());
    boolean uncertain = election.isUncertain();
    // Nothing is written any more under a lease that another may take.
    election.giveUp();
    if (lease != null) {
      return leases.write(lease)
          .thenComposeAsync(answer -> answer instanceof LeaseApiResult.Conflict
              ? releaseAsRead()
              : released(answer), loop);
    }
    return uncertain ? releaseAsRead() : CompletableFuture.completedFuture(null);
  }

  private CompletableFuture<Void> releaseAsRead() {
    return leases.read().thenComposeAsync(read -> {
      var lease = read instanceof LeaseApiResult.Found(var found)
          ? election.release(found, now())
          : null;
      return lease == null
          ? CompletableFuture.completedFuture(null)
          : leases.write(lease).thenCompose(LeaderElection::released);
    }, loop);
  }

  private static CompletableFuture<Void> released(LeaseApiResult answer) {
    if (answer instanceof LeaseApiResult.Found) {
      log.info("Released the lease");
    } else {
      log.warn("The lease was not released, and ends by itself: {}", answer);
    }
    return CompletableFuture.completedFuture(null);
  }

  public View view() {
    return view;
  }

  /** Whether no other candidate can hold the lease yet; only on the loop. */
  public boolean holdsLease() {
    return election.leads(now());
  }

  @Override
  public boolean mayWrite() {
    return elected && election.mayWrite(now());
  }

  @Override
  public CompletableFuture<Boolean> confirmed() {
    return leases.read().thenApplyAsync(answer -> {
      boolean ours = answer instanceof LeaseApiResult.Found(var lease) && election.isOurs(lease);
      if (answer instanceof LeaseApiResult.Found && !ours
          || answer instanceof LeaseApiResult.Absent) {
        log.warn("The lease is not ours any more: {}", answer);
        election.giveUp();
        notifyListener();
        attempts.within(Duration.ZERO);
      }
      return ours && mayWrite();
    }, loop);
  }

  private void attempt() {
    if (stopped || !underWay.isDone()) {
      return;
    }
    // Checked first: if the machine slept, the term ends even if the lease could still be renewed.
    notifyListener();
    var renewal = election.renewal(now());
    if (renewal == null) {
      read();
    } else {
      write(renewal);
    }
  }

  private void read() {
    then(leases.read(), answer -> {
      if (stopped) {
        return;
      }
      var next = switch (answer) {
        case LeaseApiResult.Found(var lease) -> election.read(lease, now());
        case LeaseApiResult.Absent() -> election.absent(now());
        case LeaseApiResult.Conflict(),LeaseApiResult.Failed(_) -> null;
      };
      if (next == null) {
        note(answer);
        rest();
      } else {
        // The write says whether the lease can be used.
        write(next);
      }
    });
  }

  private void write(LeaseRecord lease) {
    boolean renews = elected;
    var sent = now();
    then(leases.write(lease), answer -> {
      if (renews) {
        // The term may have ended while this was on its way, which others may have noticed.
        notifyListener();
      }
      switch (answer) {
        case LeaseApiResult.Found(var written) -> election.wrote(written, sent, now());
        case LeaseApiResult.Conflict(),LeaseApiResult.Absent(),LeaseApiResult.Failed(_) ->
          election.notWritten();
      }
      note(answer);
      if (!stopped && answer instanceof LeaseApiResult.Conflict && renews) {
        // Most likely our own renewal, whose answer was lost.
        notifyListener();
        read();
      } else if (!stopped) {
        rest();
      }
    });
  }

  /** If {@code next} throws, the loop logs it, and another attempt is made. */
  private void then(CompletableFuture<LeaseApiResult> request, Consumer<LeaseApiResult> next) {
    var done = new CompletableFuture<Void>();
    underWay = done;
    var _ = request.whenComplete((answer, failure) -> loop.execute(() -> {
      if (!stopped) {
        attempts.within(times.retry());
      }
      try {
        next.accept(failure == null ? answer : new LeaseApiResult.Failed(failure.toString()));
      } finally {
        done.complete(null);
      }
    }));
  }

  private void note(LeaseApiResult answer) {
    String now = answer instanceof LeaseApiResult.Failed(var message) ? message : "";
    failures += now.isEmpty() ? 0 : 1;
    if (!now.isEmpty() && !now.equals(problem)) {
      log.warn("The lease of the election cannot be used: {}", now);
    }
    problem = now;
  }

  private void rest() {
    notifyListener();
    attempts.cancel();
    attempts.within(election.pause(now(), random));
  }

  private void notifyListener() {
    var now = now();
    boolean leads = election.leads(now);
    if (leads) {
      giveUp.within(times.retry());
    }
    boolean changes = leads != elected && !stopped;
    // Also if it led before: reports were refused in between.
    boolean moves = !election.holder().equals(holder) || changes && leads;
    elected = changes ? leads : elected;
    holder = election.holder();
    // Before the listener, which reads the view.
    publishView();
    if (changes && leads) {
      log.info("This activator leads, term {}", election.term());
      listener.elected(election.term());
    } else if (changes) {
      log.warn("This activator no longer leads");
      var _ = listener.deposed();
    }
    if (moves) {
      listener.holds(holder);
    }
  }

  private void publishView() {
    view = new View(elected, holder, election.term(), election.renewedAt(startedAt), failures,
        problem);
  }

  private Moment now() {
    return new Moment(loop.nanoTime(), clock.instant());
  }
}
