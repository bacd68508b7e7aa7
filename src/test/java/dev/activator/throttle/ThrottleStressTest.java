package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.TestRevisions;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopGroup;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.testing.PatientCaller;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.policy.ThrottlerOptions;
import io.netty.channel.DefaultEventLoopGroup;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Real threads: a lost wake-up would leave requests waiting, a lost count would overload a pod. */
class ThrottleStressTest {
  private static final RevisionId ID = new RevisionId("ns", "rev");
  private static final Destination A = new Destination("10.0.0.1", 8012);
  private static final Destination B = new Destination("10.0.0.2", 8012);
  private static final int LOOPS = 4;
  private static final int CHAINS_A_LOOP = 5;
  private static final int REQUESTS_A_CHAIN = 1_000;

  private final DefaultEventLoopGroup threads = new DefaultEventLoopGroup(LOOPS);
  private final LoopGroup loops = new LoopGroup(threads);
  private final Map<Destination, AtomicInteger> running = new ConcurrentHashMap<>();
  private final Map<Destination, AtomicInteger> most = new ConcurrentHashMap<>();
  private final AtomicInteger ran = new AtomicInteger();
  private final AtomicInteger gaveUp = new AtomicInteger();
  private final CountDownLatch chains = new CountDownLatch(LOOPS * CHAINS_A_LOOP);

  @AfterEach
  void stop() {
    threads.shutdownGracefully(0, 0, TimeUnit.SECONDS);
  }

  @ParameterizedTest(name = "cc {0}")
  @CsvSource({"0", "1", "3", "4"})
  void neitherLosesARequestNorOverloadsAPod(int concurrency) throws Exception {
    var revisions = new TestRevisions(loops::loopFor, Revision.of(ID, concurrency));
    var throttler = Quiescence
        .watch(Make.throttler(revisions.live, Make.OWN_ADDRESS,
            ThrottlerOptions.of(10_000), LoopGroup.random()));
    throttler.onDestinations(HealthyDestinations.pods(ID, DestinationSet.of(A, B)));

    // when chains of requests run on every loop, while one of the pods comes and goes
    for (int i = 0; i < LOOPS * CHAINS_A_LOOP; i++) {
      var chain = new Chain(throttler, revisions.of(ID), loops.all().get(i % LOOPS), i);
      chain.loop.execute(chain::next);
    }
    assertThat(chains.await(120, TimeUnit.SECONDS)).isTrue();

    // then each has run or given up, and no pod ever ran more than it may
    assertThat(ran.get() + gaveUp.get()).isEqualTo(LOOPS * CHAINS_A_LOOP * REQUESTS_A_CHAIN);
    if (concurrency > 0) {
      assertThat(most.values()).allMatch(count -> count.get() <= concurrency);
    }
    settle();
    assertThat(throttler.view(ID).inFlight()).isZero();
    assertThat(throttler.view(ID).queued()).isZero();
  }

  /** Messages of one loop to another arrive after at most three rounds. */
  private void settle() throws Exception {
    for (int round = 0; round < 4; round++) {
      var all = new CountDownLatch(LOOPS);
      loops.all().forEach(loop -> loop.execute(all::countDown));
      assertThat(all.await(120, TimeUnit.SECONDS)).isTrue();
    }
  }

  /** One request after the other, on one loop; every few gives up if it has to wait. */
  private final class Chain {
    private final Throttler throttler;
    private final LiveRevision revision;
    private final Loop loop;
    private final Random random;
    private int left = REQUESTS_A_CHAIN;

    Chain(Throttler throttler, LiveRevision revision, Loop loop, int seed) {
      this.throttler = throttler;
      this.revision = revision;
      this.loop = loop;
      this.random = new Random(seed);
    }

    void next() {
      if (left-- == 0) {
        chains.countDown();
        return;
      }
      if (left % 50 == 0) {
        throttler.onDestinations(HealthyDestinations.pods(ID,
            random.nextBoolean() ? DestinationSet.of(A, B) : DestinationSet.of(A)));
      }
      var request = new Request();
      switch (throttler.admit(revision, request)) {
        case Permit permit -> request.granted(permit);
        case ThrottleDecision.NoRoom _ -> throw new AssertionError("it waits");
        case QueueEntry place when random.nextInt(4) == 0 ->
          loop.execute(() -> request.giveUp(place));
        case QueueEntry place -> {
        }
      }
    }

    private final class Request extends PatientCaller {
      private boolean called;

      Request() {
        super(loop);
      }

      @Override
      public void granted(Permit permit) {
        called = true;
        int now = count(running, permit.destination()).incrementAndGet();
        count(most, permit.destination()).accumulateAndGet(now, Math::max);
        hold(permit, random.nextInt(3));
      }

      private void hold(Permit permit, int turns) {
        if (turns > 0) {
          loop.execute(() -> hold(permit, turns - 1));
          return;
        }
        count(running, permit.destination()).decrementAndGet();
        if (random.nextInt(2_000) == 0) {
          called = permit.retry(this, random.nextBoolean()) == null;
          if (!called) {
            return;
          }
        } else {
          permit.release(Ending.ANSWERED);
        }
        ran.incrementAndGet();
        loop.execute(Chain.this::next);
      }

      void giveUp(QueueEntry place) {
        if (!called) {
          place.giveUp();
          gaveUp.incrementAndGet();
          next();
        }
      }
    }
  }

  private static AtomicInteger count(Map<Destination, AtomicInteger> counts, Destination pod) {
    return counts.computeIfAbsent(pod, it -> new AtomicInteger());
  }
}
