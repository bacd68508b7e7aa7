package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.throttle.policy.WaitLimits;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.testing.PatientCaller;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.policy.ThrottlerOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One revision's flood, and another revision on the same loop. */
class FairnessTest {
  private static final RevisionId FLOODED = new RevisionId("ns", "flooded");
  private static final RevisionId QUIET = new RevisionId("ns", "quiet");
  private static final Destination A = new Destination("10.0.0.1", 8012);
  private static final Destination B = new Destination("10.0.0.2", 8012);
  private static final int FLOOD = 10_000;

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final TestRevisions revisions = new TestRevisions(loop, Revision.of(FLOODED, 0),
      Revision.of(QUIET, 1));
  private final Throttler throttler = Make.throttler(revisions.live, Make.OWN_ADDRESS,
      new ThrottlerOptions(FLOOD, ThrottlerOptions.NO_BOUND, WaitLimits.NONE, null, 0),
      new Random(1));
  private final List<RevisionId> grants = new ArrayList<>();
  private final List<Permit> granted = new ArrayList<>();
  private final List<QueueEntry> queued = new ArrayList<>();

  /** Notes whose turn it was. */
  private final class Noted extends PatientCaller {
    private final RevisionId revision;

    private Noted(RevisionId revision) {
      super(loop);
      this.revision = revision;
    }

    @Override
    public void granted(Permit permit) {
      grants.add(revision);
      granted.add(permit);
    }
  }

  private void ask(RevisionId revision) {
    queued.add((QueueEntry) throttler.admit(revisions.of(revision), new Noted(revision)));
  }

  @AfterEach
  void callersLeave() {
    granted.forEach(permit -> permit.release(Ending.ANSWERED));
    queued.forEach(QueueEntry::giveUp);
  }

  @Test
  void grantsAnotherRevisionSoon_whenAFullQueueIsGranted() {
    // given one revision whose queue is full, and another with one that waits
    for (int i = 0; i < FLOOD; i++) {
      ask(FLOODED);
    }
    ask(QUIET);
    loop.run();

    // when both have room
    throttler.onDestinations(HealthyDestinations.pods(FLOODED, DestinationSet.of(A)));
    throttler.onDestinations(HealthyDestinations.pods(QUIET, DestinationSet.of(B)));
    loop.run();

    // then the one does not wait for ten thousand, but for a turn of them
    assertThat(grants).hasSize(FLOOD + 1);
    assertThat(grants.indexOf(QUIET)).isLessThanOrEqualTo(256);
  }

  @Test
  void aFullQueueDoesNotBlockOtherRevisions() {
    for (int i = 0; i < FLOOD; i++) {
      ask(FLOODED);
    }
    loop.run();

    for (int i = 0; i < FLOOD; i++) {
      ask(QUIET);
    }
    loop.run();

    assertThat(throttler.view(QUIET).queued()).isEqualTo(FLOOD);
  }
}
