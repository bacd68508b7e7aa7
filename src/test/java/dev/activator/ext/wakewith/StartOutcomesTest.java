package dev.activator.ext.wakewith;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.observability.FakeRequest;
import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestObservers;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.Throttler;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class StartOutcomesTest {
  private static final RevisionId ID = new RevisionId("shop", "b");

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final RequestObservers observers = new RequestObservers();
  private final TestRevisions revisions = new TestRevisions(loop, Revision.of(ID, 1));
  private final Throttler throttler = Make.throttler(revisions.live, 10);
  private final StartOutcomes outcomes = new StartOutcomes(loop, throttler, revisions.live,
      observers);

  private void request(Step step) {
    observers.saw(step, FakeRequest.of(observers, loop, revisions.of(ID)));
    loop.run();
  }

  private List<Long> counts() {
    return List.of(outcomes.used(), outcomes.late(), outcomes.unused());
  }

  @Test
  void countsAStartAsUsed_whenItsFirstRequestNeedNotWait() {
    outcomes.onStarted(ID, Duration.ofSeconds(10));
    loop.advance(Duration.ofSeconds(3));

    request(Step.GRANTED);
    request(Step.GRANTED);

    assertThat(counts()).containsExactly(1L, 0L, 0L);
    assertThat(outcomes.savedSeconds()).isEqualTo(3);
  }

  @Test
  void countsAStartAsLate_whenItsFirstRequestWaits() {
    outcomes.onStarted(ID, Duration.ofSeconds(10));

    request(Step.ARRIVED);
    request(Step.QUEUED);
    request(Step.GRANTED);

    assertThat(counts()).containsExactly(0L, 1L, 0L);
  }

  @Test
  void countsAStartAsUnused_whenNoRequestComesInTime() {
    outcomes.onStarted(ID, Duration.ofSeconds(10));

    loop.advance(Duration.ofSeconds(10));
    request(Step.GRANTED);

    assertThat(counts()).containsExactly(0L, 0L, 1L);
  }

  @Test
  void countsNothing_whenTheRevisionIsDeletedFirst() {
    outcomes.onStarted(ID, Duration.ofSeconds(10));

    revisions.remove(ID);
    loop.advance(Duration.ofSeconds(20));

    assertThat(counts()).containsExactly(0L, 0L, 0L);
    assertThat(observers.all()).isEmpty();
  }

  @Test
  void expectsNothing_whenTheRevisionWasDeletedMeanwhile() {
    revisions.remove(ID);

    outcomes.onStarted(ID, Duration.ofSeconds(10));

    assertThat(observers.all()).isEmpty();
  }

  @Test
  void observesRequestsOnlyWhileItExpectsOne() {
    assertThat(observers.all()).isEmpty();
    outcomes.onStarted(ID, Duration.ofSeconds(10));
    assertThat(observers.all()).containsExactly(outcomes);

    request(Step.GRANTED);

    assertThat(observers.all()).isEmpty();
  }
}
