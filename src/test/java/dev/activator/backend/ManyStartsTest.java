package dev.activator.backend;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.upstream.ConnectAttemptQueue;
import dev.activator.revision.LiveRevisions;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.Loop;
import dev.activator.loop.policy.RateLimit;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.testing.VirtualLoop;
import dev.activator.upstream.ProbeClient.ProbeRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How soon pods that begin to listen are found, while pods of many other revisions start, too, and requests wait. */
class ManyStartsTest {
  private static final int SECONDS = 3;

  private final VirtualLoop loop = new VirtualLoop();
  private final FakePods pods = new AttemptedPods(loop);
  private final LiveRevisions live = new LiveRevisions(_ -> loop);
  private final RevisionBackendsManager backends = Make.backends(live, loop, pods);
  private final Map<RevisionId, Duration> listens = new HashMap<>();
  private final List<Duration> delays = new ArrayList<>();

  /** Tries to connect as often as the client for sockets does. */
  private static final class AttemptedPods extends FakePods {
    private final VirtualLoop loop;
    private final ConnectAttemptQueue<Attempt> turns;
    private final ResettableTimer timer;

    private record Attempt(Destination pod, Duration pause, Duration end,
        Consumer<Boolean> refused) {}

    AttemptedPods(VirtualLoop loop) {
      super(loop);
      this.loop = loop;
      this.turns = new ConnectAttemptQueue<>(
          new RateLimit(ProbeSettings.DEFAULT.attemptsPerSecond(), loop.nanoTime()));
      this.timer = new ResettableTimer(loop, this::attempt);
    }

    @Override
    public void awaitListener(Loop on, ProbeRequest next, Duration pause, Duration limit,
        Consumer<Boolean> refused) {
      var attempt = new Attempt(next.destination(), pause, loop.elapsed().plus(limit), refused);
      if (pause.isZero()) {
        turns.first(attempt, loop.nanoTime());
      } else {
        turns.again(attempt, loop.nanoTime());
      }
      timer.within(0);
    }

    private void attempt() {
      for (var next = turns.next(loop.nanoTime()); next != null; next = turns
          .next(loop.nanoTime())) {
        var again = loop.elapsed().plus(next.pause);
        if (listens(next.pod)) {
          next.refused.accept(false);
        } else if (again.compareTo(next.end) < 0) {
          turns.again(next, loop.nanoTime() + next.pause.toNanos());
        } else {
          next.refused.accept(true);
        }
      }
      if (!turns.isEmpty()) {
        timer.within(Math.max(1_000_000, turns.untilNextNanos(loop.nanoTime())));
      }
    }
  }

  private void start(int number, Duration delay) {
    var id = new RevisionId("ns", "revision-" + number);
    var pod = new Destination("10.0." + number / 250 + "." + number % 250, 8012);
    var at = loop.elapsed().plus(delay);
    listens.put(id, at);
    pods.listensFrom(pod, at);
    backends.revision(live.update(Revision.of(id, 0)));
    backends.listed(
        new PrivateEndpoints(id,
            new PodsByReadiness(DestinationSet.NONE, DestinationSet.of(List.of(pod))),
            PodsByReadiness.NONE));
    awaited(id);
  }

  /** As the throttler reports it while requests wait. */
  private void awaited(RevisionId id) {
    if (listens.containsKey(id)) {
      backends.onRequestWaits(id, loop);
      loop.schedule(ofSeconds(1), () -> awaited(id));
    }
  }

  @ParameterizedTest(name = "{0} starts a second: {1} ms at most for 99 of 100")
  @CsvSource({"10, 9", "100, 15", "300, 45", "1000, 150"})
  void aPodThatListensIsFoundSoon(int startsPerSecond, long millis) {
    // given revisions whose pods start for the first time, in 80 to 800 ms
    var random = new Random(1);
    backends.healthy().subscribe("test", now -> {
      var listensAt = now.pods().isEmpty() ? null : listens.remove(now.revision());
      if (listensAt != null) {
        delays.add(loop.elapsed().minus(listensAt));
      }
    });

    for (int i = 0; i < startsPerSecond * SECONDS; i++) {
      start(i, ofMillis(80 + random.nextInt(720)));
      loop.advance(ofSeconds(1).dividedBy(startsPerSecond));
    }
    loop.advance(ofSeconds(3));

    delays.sort(null);
    assertThat(delays).hasSize(startsPerSecond * SECONDS);
    assertThat(delays.get(delays.size() * 99 / 100)).isLessThanOrEqualTo(ofMillis(millis));
  }
}
