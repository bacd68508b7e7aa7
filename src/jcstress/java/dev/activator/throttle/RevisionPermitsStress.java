package dev.activator.throttle;

import dev.activator.throttle.QueuedRequest.RetryBudget;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodTransport;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.policy.Balancer;
import dev.activator.throttle.policy.DestinationSubset;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IZ_Result;
import org.openjdk.jcstress.infra.results.ZI_Result;
import org.openjdk.jcstress.infra.results.ZZZ_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Two threads at the permits of one revision, in every order that the machine can think of. */
public final class RevisionPermitsStress {
  private static final Destination A = new Destination("10.0.0.1", 8012);

  private RevisionPermitsStress() {}

  /** One pod that may run one request, and whether its owner was woken. */
  static class OnePermit implements RevisionPermits.Owner {
    final RevisionPermits permits = new RevisionPermits(new Random(1), new PodBoundRequests(),
        this);
    volatile boolean woken;

    OnePermit() {
      permits.setDestinations(new DestinationSubset(List.of(A), 1, 1), PodTransport.PLAIN,
          DestinationSet.NONE,
          Balancer.FIRST_AVAILABLE, 0,
          false);
    }

    @Override
    public void grantSoon() {
      woken = true;
    }

    @Override
    public long nanoTime() {
      return 0;
    }

    @Override
    public @Nullable QueueEntry retry(Permit permit, QueuedCaller waiter, boolean connected) {
      return null;
    }
  }

  /** Of two who want the last permit, one gets it. */
  @JCStressTest
  @Outcome(id = {"true, false", "false, true"}, expect = Expect.ACCEPTABLE, desc = "one runs")
  @Outcome(expect = Expect.FORBIDDEN, desc = "too many, or nobody")
  @State
  public static class LastPermit extends OnePermit {
    @Actor
    public void one(ZZ_Result result) {
      result.r1 = permits.tryAcquire() != null;
    }

    @Actor
    public void other(ZZ_Result result) {
      result.r2 = permits.tryAcquire() != null;
    }
  }

  /** Who shuts the gate and looks again, or who releases and looks at the gate, sees the other. */
  @JCStressTest
  @Outcome(id = {"true, false", "false, true",
      "true, true"}, expect = Expect.ACCEPTABLE, desc = "it runs now, or its loop is woken to see to it")
  @Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "the wake-up is lost")
  @State
  public static class WakeUp extends OnePermit {
    private final Permit running = permits.acquireForNext();

    @Actor
    public void asks(ZZ_Result result) {
      permits.tryEnter(10);
      result.r1 = permits.acquireForNext() != null;
    }

    @Actor
    public void releases() {
      running.release(Ending.ANSWERED);
    }

    @Arbiter
    public void end(ZZ_Result result) {
      result.r2 = woken;
    }
  }

  /** A newcomer beside one who waits: whatever it takes and gives back, the other is not forgotten. */
  @JCStressTest
  @Outcome(id = "true, .*, .*", expect = Expect.ACCEPTABLE, desc = "the head runs")
  @Outcome(id = "false, .*, true", expect = Expect.ACCEPTABLE, desc = "the loop is woken for the head")
  @Outcome(expect = Expect.FORBIDDEN, desc = "nobody knows that the head may run")
  @State
  public static class Newcomer extends OnePermit {
    private final Permit running = permits.acquireForNext();

    @Actor
    public void head(ZZZ_Result result) {
      permits.tryEnter(10);
      result.r1 = permits.acquireForNext() != null;
    }

    @Actor
    public void newcomer(ZZZ_Result result) {
      running.release(Ending.ANSWERED);
      var permit = permits.tryAcquire();
      result.r2 = permit != null;
      if (permit != null) {
        permit.release(Ending.ANSWERED);
      }
    }

    @Arbiter
    public void end(ZZZ_Result result) {
      result.r3 = woken;
    }
  }

  /** A pod that is closed meanwhile either gave a permit, and counts it, or gives none. */
  @JCStressTest
  @Outcome(id = {"true, 1", "false, 0"}, expect = Expect.ACCEPTABLE, desc = "what runs is counted")
  @Outcome(expect = Expect.FORBIDDEN, desc = "what runs is forgotten")
  @State
  public static class Closing extends OnePermit {
    @Actor
    public void asks(ZI_Result result) {
      result.r1 = permits.tryAcquire() != null;
    }

    @Actor
    public void closes() {
      permits.setDestinations(DestinationSubset.NONE, PodTransport.PLAIN, DestinationSet.NONE,
          Balancer.FIRST_AVAILABLE, 0,
          false);
    }

    @Arbiter
    public void end(ZI_Result result) {
      result.r2 = permits.inFlight();
    }
  }

  /** Of a request that ends while lending begins no permit is left that nobody takes back. */
  @JCStressTest
  @Outcome(id = {"0, true", "0, false"}, expect = Expect.ACCEPTABLE, desc = "no permit is left")
  @Outcome(id = "1, true", expect = Expect.ACCEPTABLE, desc = "the loop is woken to take it back")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a permit is left")
  @State
  public static class LendingBegins extends OnePermit {
    private final Permit running = permits.acquireForNext();

    @Actor
    public void releases() {
      running.release(Ending.UNCOUNTED);
    }

    @Actor
    public void lends() {
      permits.setDestinations(new DestinationSubset(List.of(A), 1, 1), PodTransport.PLAIN,
          DestinationSet.NONE, Balancer.FIRST_AVAILABLE, 0, true);
      permits.setPermits(A, 0, null);
    }

    @Arbiter
    public void end(IZ_Result result) {
      result.r1 = permits.permits(A);
      result.r2 = woken;
    }
  }

  /** Of two who want the last place, one gets it. */
  @JCStressTest
  @Outcome(id = {"true, false", "false, true"}, expect = Expect.ACCEPTABLE, desc = "one waits")
  @Outcome(expect = Expect.FORBIDDEN, desc = "too many, or nobody")
  @State
  public static class LastPlace extends OnePermit {
    @Actor
    public void one(ZZ_Result result) {
      result.r1 = permits.tryEnter(1);
    }

    @Actor
    public void other(ZZ_Result result) {
      result.r2 = permits.tryEnter(1);
    }
  }

  /** The budget of retries is never overdrawn: nine try, and one of two more may. */
  @JCStressTest
  @Outcome(id = {"true, false", "false, true"}, expect = Expect.ACCEPTABLE, desc = "one tries")
  @Outcome(expect = Expect.FORBIDDEN, desc = "too many, or nobody")
  @State
  public static class LastRetry {
    private final RetryBudget budget = new RetryBudget();

    public LastRetry() {
      for (int i = 0; i < 9; i++) {
        budget.tryAcquire(0);
      }
    }

    @Actor
    public void one(ZZ_Result result) {
      result.r1 = budget.tryAcquire(0);
    }

    @Actor
    public void other(ZZ_Result result) {
      result.r2 = budget.tryAcquire(0);
    }
  }
}
