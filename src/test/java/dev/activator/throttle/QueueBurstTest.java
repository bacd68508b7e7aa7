package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.PatientCaller;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Thousands of queued requests that end at once, each of which calls back into the queue. */
@Tag("burst")
class QueueBurstTest {
  private static final int REQUESTS = 10_000;

  private final OneRevision revision = new OneRevision(1);
  private final List<Caller> callers = new ArrayList<>();
  private int granted;
  private int rejected;

  /** Ends as soon as it runs, and comes back once if it is rejected. */
  private final class Caller extends PatientCaller {
    private final boolean comesBack;
    private final boolean fails;
    private QueueEntry entry;

    Caller(boolean comesBack, boolean fails) {
      super(revision.loop);
      this.comesBack = comesBack;
      this.fails = fails;
      callers.add(this);
      come();
    }

    private void come() {
      switch (revision.admit(this)) {
        case Permit permit -> granted(permit);
        case ThrottleDecision.NoRoom _ -> throw new AssertionError("it waits");
        case QueueEntry later -> entry = later;
      }
    }

    @Override
    public void granted(Permit permit) {
      granted++;
      permit.release(fails ? Ending.BROKEN : Ending.ANSWERED);
    }

    @Override
    public void rejected(Rejection reason) {
      rejected++;
      if (comesBack) {
        revision.admit(new HeldRequest(revision.loop));
      }
    }
  }

  private void queue(boolean comesBack, boolean fails) {
    for (int i = 0; i < REQUESTS; i++) {
      new Caller(comesBack, fails);
    }
    revision.loop.run();
    assertThat(revision.view().queued()).isEqualTo(REQUESTS);
  }

  @Test
  void grantsAll_whenEachEndsInsideItsGrant() {
    queue(false, false);

    revision.pods(OneRevision.A);

    assertThat(granted).isEqualTo(REQUESTS);
  }

  @Test
  void grantsAll_whenEachBreaksInsideItsGrant() {
    queue(false, true);

    revision.pods(OneRevision.A, OneRevision.B);

    assertThat(granted).isEqualTo(REQUESTS);
  }

  @Test
  void rejectsAll_whenTheRevisionIsDeletedAndEachComesBack() {
    queue(true, false);

    revision.revisions.remove(OneRevision.ID);
    revision.loop.run();

    assertThat(rejected).isEqualTo(REQUESTS);
    revision.revisions.remove(OneRevision.ID);
  }

  @Test
  void forgetsAll_whenAllCallersLeave() {
    queue(false, false);

    callers.forEach(caller -> caller.entry.giveUp());
    revision.loop.run();

    assertThat(revision.view().queued()).isZero();
    revision.pods(OneRevision.A);
    assertThat(granted).isZero();
  }
}
