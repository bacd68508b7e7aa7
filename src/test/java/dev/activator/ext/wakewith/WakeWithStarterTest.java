package dev.activator.ext.wakewith;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.RevisionStartFailure.ContainerFailure;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.testing.RequestCounts;
import dev.activator.testing.LogLines;
import dev.activator.testing.Make;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("reads the log")
class WakeWithStarterTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final TestRevisions exist = new TestRevisions(loop);
  private final Throttler throttler = Quiescence.watch(Make.throttler(exist.live, 100));
  private final Counter counted = new Counter();
  private final Set<RevisionId> blocked = new HashSet<>();
  private final PrewarmStarts starts = Quiescence.watch(new PrewarmStarts(loop, counted,
      throttler, exist.live, id -> !blocked.contains(id)));
  private final WakeWithStarter wakeWith = Quiescence.watch(new WakeWithStarter(exist.live, starts,
      name -> exist.get(name) != null ? name : null, _ -> {
      }));

  WakeWithStarterTest() {
    throttler.starts().subscribe("test", wakeWith::onStart);
  }

  private static final class Counter extends RequestCounts {
    private final Map<String, Integer> now = new TreeMap<>();
    private final Map<String, Integer> ever = new TreeMap<>();

    @Override
    public void arrived(RevisionId revision) {
      now.merge(revision.name(), 1, Integer::sum);
      ever.merge(revision.name(), 1, Integer::sum);
    }

    @Override
    public void left(RevisionId revision) {
      now.computeIfPresent(revision.name(), (_, count) -> count == 1 ? null : count - 1);
    }
  }

  private static RevisionId id(String name) {
    return new RevisionId("shop", name);
  }

  private void exists(String name, String with) {
    var revision = new Revision(id(name), "u", PortProtocol.HTTP1, 0, RequestTimeouts.DEFAULT, true,
        null, Map.of(), with.isEmpty() ? Map.of() : Map.of("activator.dev/wake-with", with), null);
    var live = exist.put(revision);
    throttler.onRevision(live);
    wakeWith.onRevision(live);
    loop.run();
  }

  private void pods(String name, int count) {
    throttler.onDestinations(HealthyDestinations.pods(id(name), DestinationSet.of(IntStream
        .range(0, count).mapToObj(i -> new Destination("10.0.0." + (i + 1), 80)).toList())));
    loop.run();
  }

  /** A request that runs as soon as it may, and ends at once. */
  private ThrottleDecision request(String name) {
    return request(name, Long.MAX_VALUE);
  }

  private ThrottleDecision request(String name, long maxWaitNanos) {
    var caller = new ThrottleDecision.QueuedCaller() {
      @Override
      public VirtualLoop loop() {
        return loop;
      }

      @Override
      public long maxWaitNanos() {
        return maxWaitNanos;
      }

      @Override
      public void granted(ThrottleDecision.Permit permit) {
        permit.release(ThrottleDecision.Ending.ANSWERED);
      }

      @Override
      public void rejected(ThrottleDecision.Rejection reason) {
        // It was asked for its effect only.
      }
    };
    var admission = throttler.admit(exist.of(id(name)), caller);
    if (admission instanceof ThrottleDecision.Permit permit) {
      permit.release(ThrottleDecision.Ending.ANSWERED);
    }
    loop.run();
    return admission;
  }

  private void end() {
    exist.ids().forEach(exist::remove);
    loop.run();
  }

  @Test
  void startsWhatANameSaysAndWhatFollowsFromIt() {
    exists("a", "b");
    exists("b", "c");
    exists("c", "a");

    request("a");

    // Counted, so that the autoscaler starts them; "a" by its caller, not here.
    assertThat(counted.now).isEqualTo(Map.of("b", 1, "c", 1));
    assertThat(throttler.view(id("c")).queued()).isEqualTo(1);
    assertThat(starts.cause(id("c"))).isEqualTo("shop/a started, which wakes it");
    assertThat(starts.cause(id("a"))).isNull();
    end();
  }

  @Test
  void leavesWhenAPodTakesRequests() {
    exists("a", "b");
    exists("b", "");
    request("a");

    pods("b", 1);

    assertThat(counted.now).isEmpty();
    assertThat(throttler.view(id("b")).queued() + throttler.view(id("b")).inFlight()).isZero();
    end();
  }

  @Test
  void givesUpAfterTwiceTheUsualStartAndTenSeconds() {
    exists("a", "b");
    exists("b", "");
    // given starts of 3 s
    request("b");
    loop.advance(Duration.ofSeconds(3));
    pods("b", 1);
    pods("b", 0);

    request("a");
    loop.advance(Duration.ofMillis(15_999));
    assertThat(counted.now).containsOnlyKeys("b");
    loop.advance(Duration.ofMillis(1));

    assertThat(counted.now).isEmpty();
    end();
  }

  @Test
  void oneStartOfAWakesOnce() {
    exists("a", "b");
    exists("b", "");
    request("a");
    loop.advance(Duration.ofSeconds(20));

    request("a");

    assertThat(counted.ever).isEqualTo(Map.of("b", 1));
    end();
  }

  @Test
  void startsNothingThatServesStartsOrCannotStart() {
    exists("a", "serves,starts,crashes,quota");
    List.of("serves", "starts", "crashes", "quota").forEach(name -> exists(name, ""));
    pods("serves", 1);
    request("starts");
    request("crashes");
    throttler.onContainerFailure(
        new ContainerFailure(id("crashes"), new RevisionStartFailure("ExitCode1", "", "")));
    blocked.add(id("quota"));

    request("a");

    assertThat(counted.ever).isEmpty();
    end();
  }

  @Test
  void startsNothingForARequestWhoseDeadlineIsTooNear() {
    exists("a", "b");
    exists("b", "");
    request("a");
    loop.advance(Duration.ofSeconds(3));
    pods("a", 1);
    pods("b", 1);
    pods("a", 0);
    pods("b", 0);

    request("a", SECOND.toNanos());

    assertThat(counted.ever).isEqualTo(Map.of("b", 1));
    end();
  }

  @Test
  void startsTenAtOnceAndEachOnceASecond() {
    exists("a", String.join(",", IntStream.range(0, 12).mapToObj(i -> "b" + i).toList()));
    IntStream.range(0, 12).forEach(i -> exists("b" + i, ""));
    request("a");
    assertThat(counted.now).hasSize(10).doesNotContainKeys("b10", "b11");

    // when pods come and go within the second
    for (var name : List.of("a", "b0")) {
      pods(name, 1);
      pods(name, 0);
    }
    request("a");
    assertThat(counted.ever).containsEntry("b0", 1).containsEntry("b10", 1);

    for (var name : List.of("a", "b0")) {
      pods(name, 1);
      pods(name, 0);
    }
    pods("b1", 1);
    loop.advance(SECOND);
    request("a");
    assertThat(counted.ever).containsEntry("b0", 2).doesNotContainKey("b11");
    end();
  }

  @Test
  void eachNameThatMeansNothingIsLoggedOnce() {
    try (var log = LogLines.of(WakeWithStarter.class)) {
      exists("a", "B,gone");
      exists("a", "B,gone");
      for (int i = 0; i < 2; i++) {
        request("a");
        pods("a", 1);
        pods("a", 0);
      }

      assertThat(log.at(Level.WARN)).containsExactly(
          "shop/a: annotation activator.dev/wake-with: 'B' is neither NAME nor NAME.NAMESPACE; it is"
              + " ignored",
          "shop/a: annotation activator.dev/wake-with: there is no revision, Service or"
              + " ScaledService shop/gone");
      assertThat(wakeWith.names(id("a"))).containsExactly("shop/gone (does not exist)");
    }
    end();
  }
}
