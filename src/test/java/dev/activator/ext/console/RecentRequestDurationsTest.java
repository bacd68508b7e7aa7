package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.observability.FakeRequest;
import dev.activator.observability.RequestOutcome;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RecentRequestDurationsTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello-00001");

  private final VirtualLoop loop = new VirtualLoop();
  private final TestRevisions revisions = new TestRevisions(loop, Revision.of(HELLO, 0));
  private final RecentRequestDurations recent = new RecentRequestDurations(loop::nanoTime,
      revisions.live);

  private void request(int millis) {
    var request = FakeRequest.of(recent, loop, revisions.of(HELLO));
    loop.advance(Duration.ofMillis(millis));
    request.ended(RequestOutcome.ANSWERED, 200);
  }

  @Test
  void keepsEachOfTheLastMinute_theShortestFirst() {
    request(376);
    request(5);
    assertThat(recent.of(HELLO)).containsExactly(5_000_000, 376_000_000);

    loop.advance(Duration.ofSeconds(61));
    assertThat(recent.of(HELLO)).isEmpty();
    request(7);
    assertThat(recent.of(HELLO)).containsExactly(7_000_000);
  }

  @Test
  void saysThatThereWereTooMany_untilAMinuteLater() {
    for (int i = 0; i < RecentRequestDurations.KEPT; i++) {
      request(1);
    }
    assertThat(recent.of(HELLO)).hasSize(RecentRequestDurations.KEPT);
    request(1);
    assertThat(recent.of(HELLO)).isNull();

    loop.advance(Duration.ofSeconds(61));
    assertThat(recent.of(HELLO)).isEmpty();
  }

  @Test
  void forgetsADeletedRevision_alsoIfItsRequestEndsLater() {
    request(1);
    revisions.remove(HELLO);
    request(2);

    assertThat(recent.of(HELLO)).isEmpty();
  }
}
