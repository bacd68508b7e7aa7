package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Revision;
import dev.activator.testing.TestRevisions;
import dev.activator.ext.console.RevisionHourHistory.Kind;
import dev.activator.ext.console.RevisionHourHistory.Mark;
import dev.activator.ext.console.RevisionHourHistory.Sample;
import dev.activator.observability.FakeRequest;
import dev.activator.observability.RequestOutcome;
import dev.activator.revision.RevisionId;
import dev.activator.stats.RevisionStat;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RevisionHourHistoryTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello-00001");
  private static final RevisionId OTHER = new RevisionId("default", "other-00001");
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final VirtualLoop loop = new VirtualLoop();
  private int queued;
  private Duration passed = Duration.ZERO;
  private final TestRevisions revisions = new TestRevisions(loop, Revision.of(HELLO, 0),
      Revision.of(OTHER, 0));
  private final RevisionHourHistory hours = new RevisionHourHistory(revisions.live, loop::nanoTime,
      new Clock() {
        @Override
        public ZoneId getZone() {
          return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
          return this;
        }

        @Override
        public Instant instant() {
          return START.plus(passed);
        }
      }, _ -> queued);

  private void pass(Duration time) {
    passed = passed.plus(time);
    loop.advance(time);
  }

  private void requests(int number, int depth) {
    queued = depth;
    hours.reported(List.of(new RevisionStat(HELLO, 1, number)));
  }

  private void ends(RevisionId id, RequestOutcome outcome, int status) {
    FakeRequest.of(hours, loop, revisions.of(id)).ended(outcome, status);
  }

  private void sample(String state, int pods, int restarts, boolean live) {
    hours.sampled(
        List.of(new Sample(HELLO, state, state.startsWith("cannot"), pods, restarts, live)),
        true);
  }

  @Test
  void keepsAPointForEachMinuteOfTheHour() {
    requests(3, 1);
    requests(4, 9);
    requests(1, 2);
    pass(Duration.ofMinutes(2));
    requests(5, 0);
    ends(HELLO, RequestOutcome.ANSWERED, 500);
    hours.started(HELLO);

    var hour = hours.of(HELLO);
    assertThat(hour.of(Kind.REQUESTS)).hasSize(60).endsWith(8, 0, 5);
    assertThat(hour.of(Kind.QUEUED)).as("the deepest of each minute").endsWith(9, 0, 0);
    assertThat(hour.of(Kind.ERRORS)).endsWith(0, 0, 1);
    assertThat(hour.of(Kind.STARTS)).endsWith(0, 0, 1);
    pass(Duration.ofMinutes(58));
    assertThat(hours.of(HELLO).sum(Kind.REQUESTS)).isEqualTo(5);
    pass(Duration.ofMinutes(60));
    assertThat(hours.of(HELLO).sum(Kind.REQUESTS)).isZero();
  }

  @Test
  void keepsNothingForRevisionsWithoutRequests() {
    requests(0, 0);
    ends(OTHER, RequestOutcome.ANSWERED, 500);

    assertThat(hours.of(HELLO).isEmpty()).isTrue();
    assertThat(hours.of(OTHER).isEmpty()).isTrue();
  }

  @Test
  void keepsNoMoreThanItsBound_andHasRoomAgainWhenOthersAreQuiet() {
    for (int i = 0; i < RevisionHourHistory.MAX_SERIES; i++) {
      var id = new RevisionId("many", "r" + i);
      revisions.put(Revision.of(id, 0));
      hours.reported(List.of(new RevisionStat(id, 1, 1)));
    }
    requests(1, 0);
    assertThat(hours.of(HELLO).isEmpty()).isTrue();

    pass(Duration.ofMinutes(61));
    sample("serving", 0, 0, true);
    requests(1, 0);
    assertThat(hours.of(HELLO).sum(Kind.REQUESTS)).isEqualTo(1);
  }

  @Test
  void knowsSinceWhenAStateLasts_butNotOfOneThatIsOlderThanTheProcess() {
    sample("serving", 1, 0, true);
    assertThat(hours.of(HELLO).since()).isNull();

    pass(Duration.ofSeconds(10));
    sample("busy", 1, 0, true);
    pass(Duration.ofSeconds(10));
    sample("busy", 2, 0, true);

    assertThat(hours.of(HELLO).state()).isEqualTo("busy");
    assertThat(hours.of(HELLO).since()).isEqualTo(START.plusSeconds(10));
    assertThat(hours.of(HELLO).peak(Kind.PODS)).isEqualTo(2);
  }

  @Test
  void marksWhatHappens_theNewestFirst() {
    sample("serving", 1, 0, true);
    sample("cannot start", 0, 2, true);
    sample("at zero", 0, 2, false);
    hours.sampled(List.of(new Sample(OTHER, "at zero", false, 0, 0, true)), true);

    assertThat(hours.of(HELLO).marks()).extracting(Mark::text)
        .containsExactly("superseded", "its process ended", "cannot start");
    assertThat(hours.of(OTHER).marks()).extracting(Mark::text).containsExactly("created");
    pass(Duration.ofMinutes(61));
    sample("at zero", 0, 2, false);
    assertThat(hours.of(HELLO).marks()).isEmpty();
  }

  @Test
  void boundsTheMarks() {
    for (int i = 0; i < 100; i++) {
      sample("serving", 1, i, true);
    }

    assertThat(hours.of(HELLO).marks()).hasSize(RevisionHourHistory.MAX_MARKS);
  }

  @Test
  void countsErrorsOfTheLastMinuteByStatus_andRejectsOfFive() {
    ends(HELLO, RequestOutcome.ANSWERED, 500);
    ends(HELLO, RequestOutcome.QUEUE_FULL, 503);
    pass(Duration.ofSeconds(59));
    ends(OTHER, RequestOutcome.QUEUE_FULL, 503);

    assertThat(hours.errors()).isEqualTo(Map.of(500, 1, 503, 2));
    pass(Duration.ofSeconds(1));
    assertThat(hours.errors()).isEqualTo(Map.of(503, 1));
    assertThat(hours.rejects()).isEqualTo(Map.of(RequestOutcome.QUEUE_FULL, 2));
    pass(Duration.ofMinutes(5));
    assertThat(hours.errors()).isEmpty();
    assertThat(hours.rejects()).isEmpty();
  }

  @Test
  void forgetsADeletedRevision_alsoIfAReportComesLate() {
    requests(3, 0);
    revisions.remove(HELLO);
    requests(0, 1);
    assertThat(hours.of(HELLO).sum(Kind.REQUESTS)).isZero();

    pass(Duration.ofMinutes(3));
    hours.sampled(List.of(), true);
    assertThat(hours.of(HELLO).isEmpty()).isTrue();
  }

  @Test
  void keepsTheLastFailure_untilARequestIsServed() {
    ends(HELLO, RequestOutcome.QUEUE_TIMEOUT, 504);
    ends(HELLO, RequestOutcome.CALLER_GONE, 499);
    assertThat(hours.failure(HELLO)).isNotNull()
        .extracting(RevisionHourHistory.FailedRequest::status).isEqualTo(504);

    ends(HELLO, RequestOutcome.ANSWERED, 200);
    assertThat(hours.failure(HELLO)).isNull();
  }

  @Test
  void keepsNoFailure_whenRevisionIsDeletedBeforeItsRequestEnds() {
    var request = FakeRequest.of(hours, loop, revisions.of(HELLO));
    revisions.remove(HELLO);

    request.ended(RequestOutcome.QUEUE_TIMEOUT, 504);

    assertThat(hours.failure(HELLO)).isNull();
  }

  @Test
  void aRequestThatFellBackCountsForTheRevisionThatItFellBackTo() {
    var spare = revisions.of(OTHER);
    ends(HELLO, RequestOutcome.QUEUE_TIMEOUT, 504);

    var served = FakeRequest.of(hours, loop, revisions.of(HELLO));
    served.fellBackTo(spare);
    served.answered(200, Duration.ofMillis(1));
    assertThat(hours.failure(HELLO)).isNotNull();

    var failed = FakeRequest.of(hours, loop, revisions.of(HELLO));
    failed.fellBackTo(spare);
    failed.ended(RequestOutcome.QUEUE_TIMEOUT, 504);
    assertThat(hours.failure(OTHER)).isNotNull();
  }
}
