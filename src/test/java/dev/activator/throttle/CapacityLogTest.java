package dev.activator.throttle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.LogLines;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.testing.PatientCaller;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("reads the log")
class CapacityLogTest {
  private static final RevisionId ID = new RevisionId("ns", "rev");
  private static final Destination A = new Destination("10.0.0.1", 8012);
  private static final Destination B = new Destination("10.0.0.2", 8012);

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final Revision revision = new Revision(ID, "uid", PortProtocol.HTTP1, 10,
      RequestTimeouts.DEFAULT, true, null, Map.of(), Map.of(), null);
  private final TestRevisions revisions = new TestRevisions(loop);
  private final Throttler throttler = Make.throttler(revisions.live, 10);

  @Test
  void hasALineWhenTheFirstPodComesAndTheLastLeavesButNoneForOthers() {
    try (var log = LogLines.of(RevisionThrottler.class)) {
      throttler.onRevision(revisions.put(revision));
      pods(A);
      pods(A, B);
      pods(B);
      pods();

      assertThat(log.lines()).isEqualTo(
          List.of("INFO ns/rev: capacity 10 (destinations: 1), was 0 (0)",
              "INFO ns/rev: capacity 0 (destinations: 0), was 10 (1)"));
    }
  }

  @Test
  void hasAHundredLinesInTenSecondsOfAllRevisions() {
    try (var log = LogLines.of(RevisionThrottler.class)) {
      for (int i = 0; i < 150; i++) {
        start(i);
      }
      loop.advance(Duration.ofSeconds(10));
      start(150);
      loop.advance(RevisionThrottler.LOG_DELAY);

      assertThat(log.lines()).hasSize(101)
          .endsWith("INFO ns/rev-150: capacity 10 (destinations: 1),"
              + " was 0 (0); 50 more such lines were left out");
    }
  }

  private void start(int number) {
    var id = new RevisionId("ns", "rev-" + number);
    throttler.onRevision(
        revisions.put(new Revision(id, "uid", PortProtocol.HTTP1, 10, RequestTimeouts.DEFAULT, true,
            null, Map.of(), Map.of(), null)));
    throttler.onDestinations(HealthyDestinations.pods(id, DestinationSet.of(A)));
    loop.run();
  }

  @Test
  void isWrittenAfterTheRequestsThatAPodLetsRun() {
    try (var log = LogLines.of(RevisionThrottler.class)) {
      throttler.onRevision(revisions.put(revision));
      loop.run();
      var request = new LineCounter(log);
      throttler.admit(revisions.of(ID), request);
      loop.run();
      pods(A);

      assertThat(request.linesBefore).isZero();
      assertThat(log.lines()).hasSize(1);
    }
  }

  @Test
  void hasOneLineInTenSecondsOfAPodThatAnswersOnlyProbes() {
    try (var log = LogLines.of(RevisionThrottler.class)) {
      throttler.onRevision(revisions.put(revision));
      pods(A);
      var request = new HeldRequest(loop);
      request.received(throttler.admit(revisions.of(ID), request));
      for (int i = 0; i < 101; i++) {
        if (i == 100) {
          loop.advance(Duration.ofSeconds(10));
        }
        assertThat(request.retry()).isTrue();
        loop.run();
        pods();
        pods(A);
      }

      assertThat(log.lines()).containsExactly(
          "INFO ns/rev: capacity 10 (destinations: 1), was 0 (0)", unreachable(0),
          unreachable(99));
    }
  }

  private static String unreachable(int others) {
    return "INFO ns/rev: 10.0.0.1:8012 could not be reached; it gets no requests for 250 ms, unless"
        + " it answers a probe; " + others + " more such failures since the last line";
  }

  private void pods(Destination... pods) {
    throttler.onDestinations(HealthyDestinations.pods(ID, DestinationSet.of(pods)));
    loop.advance(RevisionThrottler.LOG_DELAY);
  }

  private final class LineCounter extends PatientCaller {
    private final LogLines log;
    private int linesBefore = -1;

    LineCounter(LogLines log) {
      super(loop);
      this.log = log;
    }

    @Override
    public void granted(ThrottleDecision.Permit permit) {
      linesBefore = log.lines().size();
      permit.release(ThrottleDecision.Ending.ANSWERED);
    }
  }
}
