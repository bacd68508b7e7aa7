package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.throttle.policy.WaitLimits;
import dev.activator.loop.LogLimit;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.testing.Seeds;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.throttle.policy.Balancer;
import dev.activator.throttle.policy.ThrottlerOptions;
import dev.activator.throttle.policy.NonEjectedDestinations;
import dev.activator.throttle.policy.ThrottleEffect;
import dev.activator.throttle.policy.ThrottleEffect.Granted;
import dev.activator.throttle.policy.ThrottleEffect.Refused;
import dev.activator.throttle.policy.ThrottleEvent;
import dev.activator.throttle.policy.ThrottleState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The mechanism against its oracle, and against its own promises when messages are under way. */
class ThrottleSimulationTest {
  private static final RevisionId ID = new RevisionId("ns", "rev");
  private static final Destination CLUSTER_IP = new Destination("10.1.0.1", 80);
  private static final int BOUND = 6;
  private static final Duration EJECTION = Duration.ofMillis(250);
  private static final ThrottlerOptions WITHOUT_SLOW_START = new ThrottlerOptions(BOUND,
      ThrottlerOptions.NO_BOUND, WaitLimits.NONE, null, 0);
  private static final List<Integer> CONCURRENCIES = List.of(0, 1, 2, 4, 5);

  private static HealthyDestinations some(Random random) {
    var pods = new ArrayList<Destination>();
    for (int i = 0; i < 4; i++) {
      if (random.nextInt(3) > 0) {
        pods.add(new Destination("10.0.0." + i, 8012));
      }
    }
    var clusterIp = random.nextInt(4) == 0 ? CLUSTER_IP : null;
    var listed = random.nextInt(5) == 0 ? DestinationSet.NONE : DestinationSet.of(pods);
    return new HealthyDestinations(ID, clusterIp, listed);
  }

  private static <T> @Nullable T anyOf(List<T> all, Random random) {
    return all.isEmpty() ? null : all.get(random.nextInt(all.size()));
  }

  /** Both are given the same events and drawn the same numbers; every answer must be the same. */
  @Test
  void doesWhatTheOracleSays() {
    Seeds.each(seed -> new ThrottleSimulationTest().doesWhatTheOracleSays(seed));
  }

  private void doesWhatTheOracleSays(long seed) {
    var run = new SideBySide(seed);
    for (int i = 0; i < 150; i++) {
      run.step();
      run.compare();
    }
  }

  @Test
  void keepsTheOrderOfTheOracleWhileCallersLeave() {
    Seeds
        .each(seed -> new ThrottleSimulationTest().keepsTheOrderOfTheOracleWhileCallersLeave(seed));
  }

  private void keepsTheOrderOfTheOracleWhileCallersLeave(long seed) {
    var run = new SideBySide(seed);
    for (int i = 0; i < 300; i++) {
      run.overloadedStep();
      if (i % 20 == 0) {
        run.compare();
      }
    }
    run.compare();
  }

  private static final class SideBySide {
    private final Random random;
    private final int concurrency;
    private final VirtualLoop loop = VirtualLoop.nearOverflow();
    private final RevisionThrottler throttler;
    private final List<HeldRequest> requests = new ArrayList<>();
    private final Map<Long, List<Object>> expected = new TreeMap<>();
    private final Random oracleRandom;
    private ThrottleState oracle = ThrottleState.initial(BOUND, loop.nanoTime());
    private NonEjectedDestinations eligible = NonEjectedDestinations.initial(ID);
    private int failures;

    SideBySide(long seed) {
      random = new Random(seed);
      oracleRandom = new Random(seed + 1);
      concurrency = CONCURRENCIES.get(random.nextInt(CONCURRENCIES.size()));
      throttler = new RevisionThrottler(loop, Revision.of(ID, concurrency),
          WITHOUT_SLOW_START, new Random(seed + 1), PermitSharing.NONE, new LogLimit(),
          new Throttler.Topics());
    }

    void step() {
      switch (random.nextInt(20)) {
        case 0, 1 -> setHealthy(some(random));
        case 2 -> failToStart();
        case 3 -> giveUp();
        case 4 -> fail();
        case 5, 6, 7, 8, 9, 10 -> release();
        case 11 -> pass(Duration.ofMillis(random.nextInt(3_000)));
        default -> arrive();
      }
      loop.run();
    }

    /** More come than can be served, and leave again. */
    void overloadedStep() {
      switch (random.nextInt(40)) {
        case 0 -> setHealthy(some(random));
        case 1 -> fail();
        case 2 -> pass(Duration.ofMillis(random.nextInt(3_000)));
        case 3, 4, 5, 6, 7, 8 -> giveUp();
        case 9, 10 -> abandon();
        case 11, 12, 13, 14 -> release();
        case 15, 16, 17, 18, 19, 20, 21, 22, 23 -> pass(Duration.ofMillis(random.nextInt(150)));
        default -> arrive();
      }
      loop.run();
    }

    private void arrive() {
      var request = new HeldRequest(loop);
      long number = requests.size();
      requests.add(request);
      expected.put(number, new ArrayList<>());
      request.received(throttler.admit(request));
      oracle(new ThrottleEvent.Arrived(number));
    }

    private void release() {
      var request = anyOf(requests.stream().filter(HeldRequest::runs).toList(), random);
      if (request != null) {
        var destination = request.destination();
        request.release();
        oracle(new ThrottleEvent.Released(requests.indexOf(request), destination));
      }
    }

    private void abandon() {
      var request = anyOf(requests.stream().filter(HeldRequest::runs).toList(), random);
      if (request != null) {
        var destination = request.destination();
        request.abandon();
        oracle(new ThrottleEvent.Abandoned(requests.indexOf(request), destination));
      }
    }

    /** No other time passes while a destination is ejected. */
    private void pass(Duration time) {
      if (eligible.ejected(loop.nanoTime()).isEmpty()) {
        loop.advance(time);
        oracle(new ThrottleEvent.Passed(time));
      } else {
        loop.advance(EJECTION);
        oracle(new ThrottleEvent.Passed(EJECTION));
        updateSubset();
      }
    }

    /** Its pod cannot be reached; whether it may try again is not the oracle's to say. */
    private void fail() {
      var request = anyOf(requests.stream().filter(HeldRequest::runs).toList(), random);
      if (request != null) {
        long number = requests.indexOf(request);
        var destination = request.destination();
        if (request.retry()) {
          expected.get(number).clear();
          long now = loop.nanoTime();
          if (eligible.subset(concurrency, now).destinations().contains(destination)) {
            eligible = eligible.eject(destination, now + EJECTION.toNanos());
          }
          oracle(new ThrottleEvent.Undelivered(number, destination));
        } else {
          expected.get(number).clear();
          oracle(new ThrottleEvent.Broken(destination));
        }
      }
    }

    private void giveUp() {
      var request = anyOf(requests.stream().filter(HeldRequest::asked).filter(HeldRequest::waits)
          .toList(), random);
      if (request != null) {
        request.giveUp();
        oracle(new ThrottleEvent.GaveUp(requests.indexOf(request)));
      }
    }

    private void setHealthy(HealthyDestinations healthy) {
      throttler.onDestinations(healthy);
      eligible = eligible.withHealthy(healthy);
      updateSubset();
    }

    private void updateSubset() {
      oracle(new ThrottleEvent.SubsetChanged(eligible.subset(concurrency, loop.nanoTime()),
          eligible.podsBehindClusterIp(), Balancer.of(concurrency)));
    }

    private void failToStart() {
      var plain = Revision.of(ID, concurrency);
      var failure = new RevisionStartFailure("ExitCode1", "", "t" + failures++);
      throttler.onRevision(new Revision(ID, plain.uid(), plain.protocol(), concurrency,
          plain.timeouts(), true, null, Map.of(), Map.of(), failure));
      oracle(new ThrottleEvent.StartFailed());
    }

    private void oracle(ThrottleEvent event) {
      var step = oracle.on(event, oracleRandom);
      oracle = step.next();
      step.effects().forEach(this::expect);
    }

    private void expect(ThrottleEffect effect) {
      switch (effect) {
        case Granted(var waiter, var destination) -> expected.get(waiter).add(destination);
        case Refused(var waiter, var reason) -> expected.get(waiter).add(reason);
      }
    }

    void compare() {
      for (int i = 0; i < requests.size(); i++) {
        assertThat(requests.get(i).answers().stream().map(SideBySide::comparable).toList())
            .as("answers to request %d", i).isEqualTo(expected.get((long) i));
      }
      var open = (ThrottleState.Open) oracle;
      var view = throttler.view();
      assertThat(view.queued()).isEqualTo(open.waiting().size());
      assertThat(view.capacity()).isEqualTo(open.subset().capacity());
      assertThat(view.newestFirst())
          .isEqualTo(open.waiting().order().at(loop.nanoTime()).newestFirst());
      var running = new TreeMap<Destination, Integer>();
      view.pods().stream().filter(pod -> pod.inFlight() > 0)
          .forEach(pod -> running.put(pod.destination(), pod.inFlight()));
      assertThat(running).isEqualTo(new TreeMap<>(open.inFlight()));
    }

    private static Object comparable(Object answer) {
      return switch (answer) {
        case Rejection.QueueFull _ -> ThrottleEffect.Reason.QUEUE_FULL;
        case Rejection.CannotStart _ -> ThrottleEffect.Reason.CANNOT_START;
        case Rejection.RevisionGone _ -> ThrottleEffect.Reason.GONE;
        default -> answer;
      };
    }
  }

  /** Requests on three loops, the revision on a fourth; each runs when the seed says so. */
  @Test
  void keepsItsPromisesWhateverIsUnderWay() {
    Seeds.each(seed -> new ThrottleSimulationTest().keepsItsPromisesWhateverIsUnderWay(seed));
  }

  private void keepsItsPromisesWhateverIsUnderWay(long seed) {
    var run = new Interleaved(seed);
    for (int i = 0; i < 300; i++) {
      run.step();
    }
    run.end();
  }

  private static final class Interleaved {
    private final Random random;
    private final int concurrency;
    private final VirtualLoop home = VirtualLoop.nearOverflow();
    private final List<VirtualLoop> loops = List.of(VirtualLoop.nearOverflow(),
        VirtualLoop.nearOverflow(),
        VirtualLoop.nearOverflow());
    private final RevisionThrottler throttler;
    private final List<HeldRequest> requests = new ArrayList<>();
    private final List<HeldRequest> gaveUp = new ArrayList<>();
    private final List<HeldRequest> failed = new ArrayList<>();
    private HealthyDestinations listed = HealthyDestinations.pods(ID, DestinationSet.NONE);
    private int before;
    /** Of each request, in order of asking, whether it got a place; it may have left since. */
    private final List<HeldRequest> placed = new ArrayList<>();

    Interleaved(long seed) {
      random = new Random(seed);
      concurrency = CONCURRENCIES.get(random.nextInt(CONCURRENCIES.size()));
      throttler = new RevisionThrottler(home, Revision.of(ID, concurrency),
          ThrottlerOptions.of(1_000), new Random(seed), PermitSharing.NONE,
          new LogLimit(),
          new Throttler.Topics());
    }

    void step() {
      switch (random.nextInt(20)) {
        case 0 -> relist();
        case 1 -> giveUp();
        case 2 -> fail();
        case 3, 4, 5, 6 -> release();
        case 7 -> releaseBroken();
        case 8, 9 -> home.run();
        case 10 -> home.advance(Duration.ofMillis(random.nextInt(200)));
        case 11, 12, 13 -> anyOf(loops, random).run();
        default -> arrive();
      }
      checkLimits();
      checkCapacity();
    }

    private void arrive() {
      var request = new HeldRequest(anyOf(loops, random));
      int before = throttler.view().queued();
      request.received(throttler.admit(request));
      requests.add(request);
      if (before > 0) {
        assertThat(request.waits()).as("nobody overtakes").isTrue();
      }
      if (request.waits()) {
        placed.add(request);
      }
    }

    private void release() {
      var request = anyOf(requests.stream().filter(HeldRequest::runs).toList(), random);
      if (request != null) {
        request.release();
      }
    }

    private void releaseBroken() {
      var request = anyOf(requests.stream().filter(HeldRequest::runs).toList(), random);
      if (request != null) {
        request.releaseBroken();
      }
    }

    private void fail() {
      var request = anyOf(requests.stream().filter(HeldRequest::runs).toList(), random);
      if (request != null && request.retry()) {
        placed.add(request);
      } else if (request != null) {
        failed.add(request);
      }
    }

    private void giveUp() {
      var waiting = placed.stream()
          .filter(request -> request.asked() && request.waits() && !gaveUp.contains(request))
          .toList();
      var request = anyOf(waiting, random);
      if (request != null) {
        request.giveUp();
        gaveUp.add(request);
      }
    }

    /** Taken note of at once; what runs on pods that were not listed before counts from now on. */
    private void relist() {
      listed = some(random);
      throttler.onDestinations(listed);
      home.run();
      before = Integer.MAX_VALUE;
    }

    private void checkLimits() {
      for (var pod : throttler.view().pods()) {
        if (concurrency > 0 && pod.destination().port() == 8012) {
          assertThat(pod.inFlight()).isBetween(0, concurrency);
        }
      }
    }

    /** What runs through the ClusterIP counts against the pods, and the other way round. */
    private void checkCapacity() {
      var all = throttler.view();
      int running = all.pods().stream().filter(pod -> mayRunOnListed(pod.destination()))
          .mapToInt(ThrottleView.PodLoad::inFlight).sum();
      boolean allListed = throttler.inspect().ejected().isEmpty();
      if (concurrency > 0 && allListed && running > before) {
        assertThat(running).as("in flight, the ClusterIP included")
            .isLessThanOrEqualTo(all.capacity());
      }
      // While one is ejected, what runs there counts against no other.
      before = allListed ? running : Integer.MAX_VALUE;
    }

    private boolean mayRunOnListed(Destination destination) {
      return destination.equals(CLUSTER_IP) || listed.pods().contains(destination);
    }

    void end() {
      throttler.onDestinations(HealthyDestinations.pods(ID,
          DestinationSet.of(new Destination("10.0.0.9", 8012))));
      rest();
      while (requests.stream().anyMatch(HeldRequest::runs)) {
        var view = throttler.view();
        assertThat(view.queued() == 0 || view.inFlight() >= concurrency)
            .as("at rest nobody waits beside a free permit").isTrue();
        release();
        rest();
      }
      for (var request : requests) {
        boolean none = gaveUp.contains(request) || failed.contains(request);
        assertThat(request.answers()).hasSize(none ? 0 : 1);
      }
      assertThat(throttler.view().queued()).isZero();
      assertThat(throttler.view().inFlight()).isZero();
    }

    private void rest() {
      for (int i = 0; i < 5; i++) {
        home.advance(Duration.ofSeconds(1));
        loops.forEach(VirtualLoop::run);
      }
    }
  }
}
