package dev.activator.backend;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.policy.ProbeQueue.Urgency;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ProbeRateLimiterTest {
  private static final RevisionId A = new RevisionId("ns", "a");
  private static final RevisionId B = new RevisionId("ns", "b");
  private static final RevisionId C = new RevisionId("ns", "c");

  /** A probe's turn. */
  record Turn(RevisionId revision, Urgency urgency, Duration at) {}

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final ProbeRateLimiter scheduler = new ProbeRateLimiter(loop, 500);
  private final List<Turn> given = new ArrayList<>();

  private void ask(RevisionId revision, Urgency urgency, int times) {
    for (int i = 0; i < times; i++) {
      scheduler.schedule(revision, urgency, loop,
          sentAs -> given.add(new Turn(revision, sentAs, loop.elapsed())));
    }
  }

  private Stream<Turn> given(RevisionId revision) {
    return given.stream().filter(turn -> turn.revision().equals(revision));
  }

  private Stream<Turn> given(Urgency urgency) {
    return given.stream().filter(turn -> turn.urgency() == urgency);
  }

  @Test
  void neverGivesMoreRepeatsThanAllowed() {
    // given more that want to repeat than may
    ask(A, Urgency.STARTING, 3_000);
    ask(B, Urgency.FAILING_LONG, 3_000);

    // when ten seconds pass
    loop.advance(ofSeconds(10));

    // then a tenth of a second's worth came at once, and then one each 2 ms
    assertThat(given).hasSize(50 + 10 * 500);
    for (int i = 500; i < given.size(); i++) {
      assertThat(given.get(i).at().minus(given.get(i - 500).at()))
          .isGreaterThanOrEqualTo(ofMillis(900));
    }
  }

  @Test
  void savesUpNoMoreThanATenthOfASecond() {
    loop.advance(ofSeconds(3_600));
    ask(A, Urgency.STARTING, 1_000);
    loop.run();

    assertThat(given).hasSize(50);
  }

  @Test
  void sendsFirstProbesAtOnceWhateverWaits() {
    ask(A, Urgency.FAILING_LONG, 5_000);
    loop.advance(ofSeconds(1));

    ask(B, Urgency.FIRST, 100);
    loop.run();

    assertThat(given(B)).hasSize(100).allMatch(turn -> turn.at().equals(ofSeconds(1)));
  }

  @Test
  void doesNotCountFirstProbesAsRepeats() {
    ask(A, Urgency.FIRST, 500);
    ask(A, Urgency.STARTING, 100);
    loop.run();

    assertThat(given(Urgency.STARTING)).hasSize(50);
  }

  @Test
  void letsRevisionsTakeTurns() {
    // given one that wants a thousand times what the others want
    ask(A, Urgency.STARTING, 1_000);
    loop.run();
    ask(B, Urgency.STARTING, 1);
    ask(C, Urgency.STARTING, 1);

    // when three more turns are given
    loop.advance(ofMillis(6));

    // then each had one
    assertThat(given.subList(50, 53)).extracting(Turn::revision).containsExactlyInAnyOrder(A, B,
        C);
  }

  @Test
  void prefersWhatMayBeStartingButNotForEver() {
    ask(A, Urgency.FAILING_LONG, 2_000);
    ask(B, Urgency.STARTING, 2_000);
    loop.advance(ofSeconds(2));

    // of 1,050 turns each fifth
    assertThat(given).hasSize(1_050);
    assertThat(given(A).count()).isBetween(205L, 265L);
  }

  @Test
  void sendsOnlyProbesOfLongFailuresWhileNothingStarts() {
    ask(A, Urgency.FAILING_LONG, 2_000);
    loop.advance(ofSeconds(1));

    assertThat(given).hasSize(550);
  }

  @Test
  void sendsWhatNoRequestNeedsAtTheRateOfRepeats() {
    ask(A, Urgency.UNAWAITED, 2_000);
    loop.advance(ofSeconds(1));

    assertThat(given).hasSize(550);
  }

  @Test
  void sendsTheProbesOfARevisionAtOnceWhenARequestWaitsForIt() {
    ask(A, Urgency.UNAWAITED, 2_000);
    ask(B, Urgency.UNAWAITED, 150);
    loop.run();
    var before = given(B).count();

    scheduler.hurry(B);
    loop.run();

    assertThat(given(B).count() - before).isEqualTo(100);

    // and the rest as these end
    scheduler.ended(B, Urgency.FIRST);
    loop.run();
    assertThat(given(B).count() - before).isEqualTo(101);
  }

  @Test
  void boundsTheProbesThatRequestsWaitForLikeOtherFirstOnes() {
    scheduler.setOnlyAwaited(true);
    for (int i = 0; i < 3_000; i++) {
      var revision = new RevisionId("ns", "rev-" + i);
      ask(revision, Urgency.UNAWAITED, 1);
      scheduler.hurry(revision);
    }
    loop.run();

    assertThat(given).hasSize(2_000);
  }

  @Test
  void whatIsNotSentInAHurryMakesNoRoomForRepeats() {
    ask(A, Urgency.STARTING, 1_000);
    loop.run();
    ask(B, Urgency.UNAWAITED, 50);
    scheduler.hurry(B);
    loop.run();

    given(B).toList().forEach(turn -> scheduler.notSent(B, turn.urgency()));
    loop.run();

    assertThat(given(A)).hasSize(50);
  }

  @Test
  void holdsBackOnlyWhatNoRequestNeeds() {
    scheduler.setOnlyAwaited(true);
    ask(A, Urgency.UNAWAITED, 10);
    ask(B, Urgency.UNAWAITED, 1);
    ask(B, Urgency.FIRST, 1);
    ask(C, Urgency.STARTING, 1);
    loop.advance(ofSeconds(10));
    assertThat(given).extracting(Turn::urgency).containsExactly(Urgency.FIRST, Urgency.STARTING);

    // when a request waits for one, then it is probed
    scheduler.hurry(B);
    loop.run();
    assertThat(given(B)).hasSize(2);

    // and the others when they are no longer held
    scheduler.setOnlyAwaited(false);
    loop.run();
    assertThat(given(A)).hasSize(10);
  }

  @Test
  void boundsTheFirstProbesOfARevisionUnderWay() {
    // given a revision of black holes
    ask(A, Urgency.FIRST, 150);
    loop.run();
    assertThat(given).hasSize(100);

    // when another revision asks, then it does not wait
    ask(B, Urgency.FIRST, 90);
    loop.run();
    assertThat(given(B)).hasSize(90);

    // and when two probes end, then two more are sent
    scheduler.ended(A, Urgency.FIRST);
    scheduler.ended(A, Urgency.FIRST);
    loop.run();
    assertThat(given(A)).hasSize(102);
  }

  @Test
  void boundsTheFirstProbesOfAllUnderWayButGivesEachRevisionOne() {
    // given a node full of black holes
    for (int i = 0; i < 20; i++) {
      ask(new RevisionId("ns", "black-" + i), Urgency.FIRST, 100);
    }
    loop.run();

    // then ten have their hundred, and the other ten their one
    assertThat(given).hasSize(1_010);

    // when other revisions ask, then they do not wait
    ask(A, Urgency.FIRST, 2);
    ask(B, Urgency.FIRST, 2);
    loop.run();
    assertThat(given(A)).hasSize(1);
    assertThat(given(B)).hasSize(1);

    // and when 13 of the 1,012 end, then one is sent that makes a thousand
    for (int i = 0; i < 13; i++) {
      scheduler.ended(new RevisionId("ns", "black-0"), Urgency.FIRST);
    }
    loop.run();
    assertThat(given).hasSize(1_013);
  }

  @Test
  void giveNoMoreThanTwoThousandAtOnce() {
    for (int i = 0; i < 3_000; i++) {
      ask(new RevisionId("ns", "rev-" + i), Urgency.FIRST, 1);
    }
    loop.run();

    assertThat(given).hasSize(2_000);
  }

  @Test
  void aProbeThatIsNotSentMakesRoomForAnother() {
    ask(A, Urgency.STARTING, 100);
    loop.run();
    assertThat(given).hasSize(50);

    for (int i = 0; i < 10; i++) {
      scheduler.notSent(A, Urgency.STARTING);
    }
    loop.advance(ofMillis(2));

    assertThat(given).hasSize(61);
  }

  @Test
  void sendsNoneOnceStopped() {
    ask(A, Urgency.STARTING, 100);
    loop.run();
    scheduler.stop();
    loop.advance(ofSeconds(10));

    assertThat(given).hasSize(50);
  }
}
