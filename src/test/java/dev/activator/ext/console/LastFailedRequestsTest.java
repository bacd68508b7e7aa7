package dev.activator.ext.console;

import static dev.activator.observability.FakeRequest.HELLO;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.observability.FakeRequest;
import dev.activator.observability.RequestOutcome;
import dev.activator.revision.RevisionId;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LastFailedRequestsTest {
  private final VirtualLoop loop = new VirtualLoop();
  private final TestRevisions revisions = new TestRevisions(loop, FakeRequest.revision(Map.of()));
  private final LastFailedRequests failures = new LastFailedRequests(loop::nanoTime,
      revisions.live);

  private void fails(FakeRequest request) {
    request.ended(RequestOutcome.QUEUE_TIMEOUT, 504);
  }

  private FakeRequest queued() {
    var request = FakeRequest.of(failures, loop, revisions);
    request.begin();
    request.queued();
    return request;
  }

  @Test
  void keepsFailure_untilARequestIsServed() {
    fails(queued());
    assertThat(failures.of(HELLO)).isNotNull().extracting(LastFailedRequests.FailedRequest::status)
        .isEqualTo(504);

    FakeRequest.of(failures, loop, revisions).answered(200, Duration.ofMillis(1));
    assertThat(failures.of(HELLO)).isNull();
  }

  @Test
  void keepsNothing_whenRevisionIsDeletedWhileItsRequestIsQueued() {
    var request = queued();
    revisions.remove(HELLO);

    fails(request);

    assertThat(failures.of(HELLO)).isNull();
  }

  @Test
  void aRequestThatFellBackCountsForTheRevisionThatItFellBackTo() {
    var spare = revisions.begun(new RevisionId("ns", "spare"));
    fails(queued());

    var served = queued();
    served.fellBackTo(spare);
    served.answered(200, Duration.ofMillis(1));
    assertThat(failures.of(HELLO)).isNotNull();

    var failed = queued();
    failed.fellBackTo(spare);
    fails(failed);
    assertThat(failures.of(spare.id())).isNotNull();
  }
}
