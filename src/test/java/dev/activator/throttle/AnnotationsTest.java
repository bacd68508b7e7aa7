package dev.activator.throttle;

import static dev.activator.throttle.OneRevision.A;
import static dev.activator.throttle.OneRevision.B;
import static dev.activator.throttle.OneRevision.ID;
import static dev.activator.throttle.OneRevision.destinations;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What a revision's annotations change, while it runs. */
class AnnotationsTest {
  @Test
  void anAnnotationLimitsTheQueue() {
    var revision = new OneRevision(1, "activator.dev/queue-capacity", "2");
    revision.requests(2);

    assertThat(revision.request().answers()).first().isInstanceOf(Rejection.QueueFull.class);

    // when it says more, then more may
    revision.changes(1, "activator.dev/queue-capacity", "3");
    assertThat(revision.request().waits()).isTrue();
    assertThat(revision.request().answers()).first().isInstanceOf(Rejection.QueueFull.class);

    // and when it says fewer, who waits stays
    revision.changes(1, "activator.dev/queue-capacity", "1");
    assertThat(revision.view().queued()).isEqualTo(3);
  }

  @Test
  void aQueuedRequestKnowsItsTimeout() {
    var revision = new OneRevision(1);
    assertThat(revision.place().limits().full()).isZero();

    revision.changes(1, "activator.dev/queue-timeout", "20s");

    assertThat(revision.place().limits().full()).isEqualTo(Duration.ofSeconds(20));
  }

  @Test
  void anAnnotationSelectsTheBalancer() {
    var revision = new OneRevision(2, "activator.dev/balancing", "round-robin");
    revision.pods(A, B);
    assertThat(destinations(revision.requests(2))).containsExactly(A, B);

    revision.changes(2, "activator.dev/balancing", "first-available");
    assertThat(destinations(revision.requests(2))).containsExactly(A, B);
  }

  @Test
  void choiceOfTwoLeavesNoRequestQueuedWhileAPodHasRoom() {
    var revision = new OneRevision(1, "activator.dev/balancing", "choice-of-two");
    revision.pods(A, B, OneRevision.C);

    assertThat(destinations(revision.requests(4))).containsOnly(A, B, OneRevision.C, null)
        .doesNotHaveDuplicates();
  }

  @Test
  void anInvalidAnnotationIsIgnored() {
    var revision = new OneRevision(1, "activator.dev/queue-capacity", "none");

    assertThat(revision.request().waits()).isTrue();
    assertThat(revision.throttler.view(ID).queued()).isOne();
  }
}
