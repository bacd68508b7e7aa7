package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.throttle.PermitSharing.PermitLease;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** One pod that two threads change at once. */
class PodTrackerTest {
  private static final int TIMES = 300_000;
  private static final Destination A = new Destination("10.0.0.1", 8012);

  @Test
  void countsEachRequestWhileCarriedOnesChange() throws Exception {
    // given a pod with one request
    var pod = new PodTracker(A,
        new RevisionPermits(new Random(1), new PodBoundRequests(), new Nobody()),
        false, PodTracker.ALL);
    pod.open(DestinationSubset.UNLIMITED, PodTransport.PLAIN);
    assertThat(pod.tryAcquire(100)).isTrue();

    // when another thread counts requests of the ClusterIP against it, and no longer does
    var over = new AtomicBoolean();
    var carrying = CompletableFuture.runAsync(() -> {
      while (!over.get()) {
        pod.carry(5);
        pod.carry(0);
      }
    });
    boolean always = true;
    for (int i = 0; i < TIMES; i++) {
      always &= pod.inFlight() == 1 && pod.tryAcquire(100);
      pod.release(Ending.ANSWERED);
    }
    over.set(true);
    carrying.get();

    // then its own are counted right all the time
    assertThat(always).isTrue();
    assertThat(pod.inFlight()).isOne();
    assertThat(pod.load()).isOne();
  }

  @Test
  void isFullIfMoreIsCarriedThanItCounts() {
    var pod = new PodTracker(A,
        new RevisionPermits(new Random(1), new PodBoundRequests(), new Nobody()),
        false, PodTracker.ALL);
    pod.open(DestinationSubset.UNLIMITED, PodTransport.PLAIN);
    pod.carry(1_000_000);

    assertThat(pod.tryAcquire(DestinationSubset.UNLIMITED)).isTrue();
    assertThat(pod.tryAcquire(DestinationSubset.UNLIMITED)).isTrue();
    assertThat(pod.load()).isEqualTo(1_000_002);

    // More than fits closes nothing.
    pod.carry(Integer.MAX_VALUE);
    assertThat(pod.load()).isEqualTo(Integer.MAX_VALUE);
    assertThat(pod.tryAcquire(DestinationSubset.UNLIMITED)).isFalse();
    assertThat(pod.inFlight()).isEqualTo(2);
    assertThat(pod.carried()).isEqualTo(Integer.MAX_VALUE);

    pod.close();
    pod.carry(0);
    pod.release(Ending.ANSWERED);
    pod.release(Ending.ANSWERED);
    assertThat(pod.isClosedAndIdle()).isTrue();
  }

  @Test
  void hasNoWindowWhereSlowStartIsSwitchedOffWhileARequestBreaks() {
    var owner = new Nobody();
    var permits = new RevisionPermits(new Random(1), new PodBoundRequests(), owner);
    var one = new DestinationSubset(List.of(A), DestinationSubset.UNLIMITED,
        DestinationSubset.UNLIMITED);
    permits.setDestinations(one, PodTransport.PLAIN, DestinationSet.NONE, Balancer.FIRST_AVAILABLE,
        4, false);
    var broken = permits.tryAcquire();
    permits.tryAcquire();

    owner.whenItLooksAtTheClock = () -> permits.setDestinations(one, PodTransport.PLAIN,
        DestinationSet.NONE,
        Balancer.FIRST_AVAILABLE, 0, false);
    broken.release(Ending.BROKEN);

    assertThat(permits.tryAcquire()).isNotNull();
  }

  @Test
  void readsTheClockOnce_forABorrowedPermit_andNotForPodsThatAreFull() {
    var owner = new Nobody();
    var permits = new RevisionPermits(new Random(1), new PodBoundRequests(), owner);
    var pods = IntStream.range(0, 10).mapToObj(i -> new Destination("10.0.0." + i, 8012)).toList();
    permits.setDestinations(new DestinationSubset(pods, 1, 10), PodTransport.PLAIN,
        DestinationSet.NONE,
        Balancer.FIRST_AVAILABLE,
        0, true);
    pods.forEach(pod -> permits.setPermits(pod, 1, new PermitLease(1)));
    owner.readings = 0;

    for (int i = 1; i <= 10; i++) {
      assertThat(permits.tryAcquire()).isNotNull();
      assertThat(owner.readings).isEqualTo(i);
    }
  }

  @Test
  void startsNothingOnABorrowedPermit_whoseLeaseIsOver() {
    var permits = new RevisionPermits(new Random(1), new PodBoundRequests(), new Nobody());
    permits.setDestinations(new DestinationSubset(List.of(A), 1, 1), PodTransport.PLAIN,
        DestinationSet.NONE,
        Balancer.FIRST_AVAILABLE, 0,
        true);

    permits.setPermits(A, 1, new PermitLease(0));
    assertThat(permits.tryAcquire()).isNull();
    permits.setPermits(A, 1, new PermitLease(1));
    assertThat(permits.tryAcquire()).isNotNull();
  }

  private static final class Nobody implements RevisionPermits.Owner {
    private int readings;
    private Runnable whenItLooksAtTheClock = () -> {
    };

    @Override
    public void grantSoon() {}

    @Override
    public long nanoTime() {
      readings++;
      var now = whenItLooksAtTheClock;
      whenItLooksAtTheClock = () -> {
      };
      now.run();
      return 0;
    }

    @Override
    public @Nullable QueueEntry retry(Permit permit, QueuedCaller caller, boolean connected) {
      return null;
    }
  }
}
