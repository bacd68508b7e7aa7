package dev.activator.autoscaler;

import dev.activator.autoscaler.policy.Election;
import dev.activator.autoscaler.policy.Election.Moment;
import dev.activator.autoscaler.policy.Election.Times;
import dev.activator.loop.DeadlineTimer;
import dev.activator.loop.Loop;
import dev.activator.revision.LeaseAnswer;
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
 * <p>
 * <b>Threads.</b> Any thread may call; {@link #mayWrite} and {@link #confirmed} only the loop's, which
 * is the autoscaler's too. Listeners are called there.
 */
public final class LeaderElection implements WriteGuard {
  /** Hears of the election. */
  public interface Listener {
    /** This activator leads from now on. */
    void elected(int term);

    /** It leads no more, and must stop writing; the answer says when nothing is under way. */
    CompletableFuture<Void> deposed();

    /** Another identity holds the lease; empty if nobody does. */
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
  private final Election election;
  private final DeadlineTimer attempts;
  private final DeadlineTimer giveUp;
  private boolean underWay;
  private boolean elected;
  private String holder = "";
  private volatile View view = new View(false, "", 0, "");
  private String problem = "";
  private boolean stopped;

  /**
   * What is known of the election.
   *
   * @param holder the identity of the leader; empty if it is not known
   * @param problem why the lease could not be read or written the last time; empty if it could
   */
  public record View(boolean leads, String holder, int term, String problem) {}

  /** @param clock by which a machine that slept notices it */
  public LeaderElection(String identity, Loop loop, LeaseClient leases, Listener listener,
      Clock clock, RandomGenerator random, Times times) {
    this.loop = loop;
    this.leases = leases;
    this.listener = listener;
    this.clock = clock;
    this.random = random;
    this.times = times;
    this.election = new Election(identity, times);
    this.attempts = new DeadlineTimer(loop, this::attempt);
    this.giveUp = new DeadlineTimer(loop, this::tell);
  }

  /** Takes part from now on. */
  public void start() {
    loop.execute(this::attempt);
  }

  /** Reads the lease within a second: its holder does not lead. */
  public void lookSoon() {
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
      if (!elected) {
        return CompletableFuture.<Void>completedFuture(null);
      }
      elected = false;
      return listener.deposed().thenComposeAsync(_ -> release(), loop);
    }, loop).thenCompose(stopping -> stopping);
  }

  private CompletableFuture<Void> release() {
    var lease = election.release(now());
    return lease == null
        ? CompletableFuture.completedFuture(null)
        : leases.write(lease).thenAccept(answer -> log.info("Released the lease: {}", answer));
  }

  public View view() {
    return view;
  }

  @Override
  public boolean mayWrite() {
    return elected && election.mayWrite(now());
  }

  @Override
  public CompletableFuture<Boolean> confirmed() {
    return leases.read().thenApplyAsync(answer -> {
      boolean ours = answer instanceof LeaseAnswer.Found(var lease) && election.isOurs(lease);
      if (answer instanceof LeaseAnswer.Found && !ours || answer instanceof LeaseAnswer.Absent) {
        log.warn("The lease is not ours any more: {}", answer);
        election.giveUp();
        tell();
        attempts.within(Duration.ZERO);
      }
      return ours && mayWrite();
    }, loop);
  }

  private void attempt() {
    if (stopped || underWay) {
      return;
    }
    // First: a term ends if the machine slept, even if the lease can still be renewed.
    tell();
    var renewal = election.renewal(now());
    if (renewal == null) {
      read();
    } else {
      write(renewal);
    }
  }

  private void read() {
    underWay = true;
    then(leases.read(), answer -> {
      if (stopped) {
        return;
      }
      var next = switch (answer) {
        case LeaseAnswer.Found(var lease) -> election.read(lease, now());
        case LeaseAnswer.Absent() -> election.absent(now());
        case LeaseAnswer.Conflict(),LeaseAnswer.Failed(_) -> null;
      };
      note(answer);
      if (next == null) {
        rest();
      } else {
        write(next);
      }
    });
  }

  private void write(LeaseRecord lease) {
    underWay = true;
    boolean renews = elected;
    var sent = now();
    then(leases.write(lease), answer -> {
      switch (answer) {
        case LeaseAnswer.Found(var written) -> election.wrote(written, sent, now());
        case LeaseAnswer.Conflict(),LeaseAnswer.Absent(),LeaseAnswer.Failed(_) ->
          election.notWritten();
      }
      note(answer);
      if (!stopped && answer instanceof LeaseAnswer.Conflict && renews) {
        // Most likely our own renewal, whose answer was lost.
        tell();
        read();
      } else if (!stopped) {
        rest();
      }
    });
  }

  /** An error ends the task, is logged by the loop, and another attempt is made. */
  private void then(CompletableFuture<LeaseAnswer> request, Consumer<LeaseAnswer> next) {
    var _ = request.whenComplete((answer, failure) -> loop.execute(() -> {
      underWay = false;
      if (!stopped) {
        attempts.within(times.retry());
      }
      next.accept(failure == null ? answer : new LeaseAnswer.Failed(failure.toString()));
    }));
  }

  private void note(LeaseAnswer answer) {
    String now = answer instanceof LeaseAnswer.Failed(var message) ? message : "";
    if (!now.isEmpty() && !now.equals(problem)) {
      log.warn("The lease of the election cannot be used: {}", now);
    }
    problem = now;
  }

  private void rest() {
    tell();
    attempts.cancel();
    attempts.within(election.pause(now(), random));
  }

  /** Tells the listener what has changed. */
  private void tell() {
    var now = now();
    boolean leads = election.leads(now);
    if (leads) {
      giveUp.within(times.retry());
    }
    if (leads != elected && !stopped) {
      elected = leads;
      if (leads) {
        log.info("This activator leads, term {}", election.term());
        listener.elected(election.term());
      } else {
        log.warn("This activator leads no more");
        var _ = listener.deposed();
      }
    }
    if (!election.holder().equals(holder)) {
      holder = election.holder();
      listener.holds(holder);
    }
    view = new View(elected, holder, election.term(), problem);
  }

  private Moment now() {
    return new Moment(loop.nanoTime(), clock.instant());
  }
}
