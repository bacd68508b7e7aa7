package dev.activator.kube;

import dev.activator.kube.policy.LeaderElectionState;
import dev.activator.kube.policy.LeaderElectionState.Moment;
import dev.activator.kube.policy.LeaderElectionState.Times;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.LeaseClient.LeaseApiResult;
import dev.activator.revision.LeaseClient;
import dev.activator.revision.LeaseClient.LeaseRecord;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes part in the election of a leader by a lease, and says whether this activator may write.
 *
 * <p><b>Threads.</b> Any thread may call, except for {@link #mayWrite} and {@link #confirmed},
 * which are called on the loop. The loop is also the autoscaler's. The listener is called on it.
 */
public final class LeaderElection implements LeadershipCheck {
  public interface Listener {
    void elected(int term);

    /**
     * This activator no longer leads and must stop writing. The result completes when no write is
     * under way.
     */
    CompletableFuture<Void> deposed();

    /**
     * The lease has a new holder, or this activator leads again. The text is empty if there is no
     * holder.
     */
    void onHolder(String holder);
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
   * A snapshot of the election.
   *
   * @param holder the identity of the leader; empty if it is not known
   * @param term how many times the lease has changed hands
   * @param renewedAt when this candidate last observed a new version of the lease, by the loop's
   *     clock; at first, when the candidate was created
   * @param failures how many times the lease could not be read or written
   * @param problem the error of the last read or write; empty if it succeeded
   */
  public record View(boolean leads, String holder, int term, long renewedAt, long failures,
      String problem) {}

  /** @param clock the wall clock, by which a suspension of the machine is detected */
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

  /** Reads the lease within a second. Call if the holder no longer seems to lead. */
  public void readSoon() {
    loop.execute(() -> {
      if (!stopped) {
        attempts.within(SOON);
      }
    });
  }

  /** Stops writing, then releases the lease. Completes when the release is written. */
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
    // From here on nothing may be written, because another candidate may take the lease.
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
      log.warn("The lease was not released, and will expire: {}", answer);
    }
    return CompletableFuture.completedFuture(null);
  }

  public View view() {
    return view;
  }

  /** Whether no other candidate can hold the lease yet. Call only on the loop. */
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
        log.warn("The lease belongs to another activator, or is gone: {}", answer);
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
    // This is checked first: after a suspension of the machine the term must end, even if the lease
    // could still be renewed.
    notifyListener();
    var renewal = election.renewal(now());
    if (renewal == null) {
      read();
    } else {
      write(renewal);
    }
  }

  private void read() {
    handle(leases.read(), answer -> {
      if (stopped) {
        return;
      }
      var next = switch (answer) {
        case LeaseApiResult.Found(var lease) -> election.read(lease, now());
        case LeaseApiResult.Absent() -> election.absent(now());
        case LeaseApiResult.Conflict(),LeaseApiResult.Failed(_) -> null;
      };
      if (next == null) {
        recordProblem(answer);
        scheduleAttempt();
      } else {
        // The result of the write shows whether the API works.
        write(next);
      }
    });
  }

  private void write(LeaseRecord lease) {
    boolean renews = elected;
    var sent = now();
    handle(leases.write(lease), answer -> {
      if (renews) {
        // The term may have ended while the write was under way, and others may have noticed that.
        notifyListener();
      }
      switch (answer) {
        case LeaseApiResult.Found(var written) -> election.wrote(written, sent, now());
        case LeaseApiResult.Conflict(),LeaseApiResult.Absent(),LeaseApiResult.Failed(_) ->
          election.notWritten();
      }
      recordProblem(answer);
      if (!stopped && answer instanceof LeaseApiResult.Conflict && renews) {
        // The conflict most likely comes from our own renewal, whose answer was lost.
        notifyListener();
        read();
      } else if (!stopped) {
        scheduleAttempt();
      }
    });
  }

  /**
   * Passes the answer to {@code next}. If that throws, the loop logs it, and another attempt
   * follows.
   */
  private void handle(CompletableFuture<LeaseApiResult> request, Consumer<LeaseApiResult> next) {
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

  private void recordProblem(LeaseApiResult answer) {
    String now = answer instanceof LeaseApiResult.Failed(var message) ? message : "";
    failures += now.isEmpty() ? 0 : 1;
    if (!now.isEmpty() && !now.equals(problem)) {
      log.warn("The lease of the election cannot be used: {}", now);
    }
    problem = now;
  }

  private void scheduleAttempt() {
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
    // This is also true if this activator led before, because reports were refused in between.
    boolean moves = !election.holder().equals(holder) || changes && leads;
    elected = changes ? leads : elected;
    holder = election.holder();
    // The listener reads the view.
    publishView();
    if (changes && leads) {
      log.info("This activator leads, term {}", election.term());
      listener.elected(election.term());
    } else if (changes) {
      log.warn("This activator no longer leads");
      var _ = listener.deposed();
    }
    if (moves) {
      listener.onHolder(holder);
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
