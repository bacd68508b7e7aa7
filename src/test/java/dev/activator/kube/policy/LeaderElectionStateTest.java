package dev.activator.kube.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.kube.policy.LeaderElectionState.Moment;
import dev.activator.kube.policy.LeaderElectionState.Times;
import dev.activator.revision.LeaseClient.LeaseRecord;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Times are seconds. */
class LeaderElectionStateTest {
  private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");
  private static final LeaseRecord OTHERS = new LeaseRecord("b", 15, 4, NOON, NOON, "7");

  private final LeaderElectionState election = new LeaderElectionState("a", Times.DEFAULT);

  private static Moment at(double seconds) {
    return at(seconds, seconds);
  }

  /** On a monotonic and on a wall clock. */
  private static Moment at(double monotonic, double wall) {
    return new Moment(Math.round(monotonic * 1e9), NOON.plusNanos(Math.round(wall * 1e9)));
  }

  private static LeaseRecord stored(LeaseRecord written, String version) {
    return new LeaseRecord(written.holder(), written.durationSeconds(), written.transitions(),
        written.acquired(), written.renewed(), version);
  }

  /** It leads by a renewal that was sent then. */
  private void leadsSince(double sent) {
    var lease = election.absent(at(sent));
    election.wrote(stored(lease, "1"), at(sent), at(sent + 0.1));
  }

  @Test
  void createsALeaseThatDoesNotExist() {
    var lease = election.absent(at(0));

    assertThat(lease).isEqualTo(new LeaseRecord("a", 15, 0, NOON, NOON, ""));
    assertThat(election.leads(at(0))).isFalse();
    election.wrote(stored(lease, "1"), at(0), at(0.1));
    assertThat(election.leads(at(0.1))).isTrue();
  }

  @Test
  void takesALeaseThatItHasSeenUnchangedForItsDuration() {
    assertThat(election.read(OTHERS, at(100))).isNull();
    assertThat(election.read(OTHERS, at(114.9))).isNull();

    var taken = election.read(OTHERS, at(115));
    assertThat(taken.holder()).isEqualTo("a");
    assertThat(taken.transitions()).isEqualTo(5);
    assertThat(taken.version()).isEqualTo("7");
  }

  @Test
  void theTermAfterTheLastNumberIsZero() {
    var last = new LeaseRecord("b", 15, Integer.MAX_VALUE, NOON, NOON, "7");
    election.read(last, at(100));

    assertThat(election.read(last, at(115)).transitions()).isZero();
    assertThat(election.absent(at(115)).transitions()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"-9223372036854775808, 100000000000000000", "9223372036854775807, 100000000000000000",
      "0, -100000000000000000"})
  void neverExtendsATerm_whenAClockOverflowsOrJumps(long nanos, long years) {
    var begin = new Moment(nanos, NOON);
    election.wrote(stored(election.absent(begin), "1"), begin, begin);
    long second = 1_000_000_000;

    assertThat(election.leads(new Moment(nanos + 9 * second, NOON.plusSeconds(9)))).isTrue();
    assertThat(election.leads(new Moment(nanos + 10 * second, NOON.plusSeconds(10)))).isFalse();
    var set = years > 0 ? Instant.MAX : Instant.MIN;
    assertThat(election.leads(new Moment(nanos + second, set))).isEqualTo(years < 0);
  }

  @Test
  void doesNotTakeAnOldLease_atTheFirstRead() {
    // given a lease that was renewed an hour ago by this machine's clock, which may be wrong
    assertThat(election.read(OTHERS, at(0, 3_600))).isNull();
  }

  @Test
  void aRenewalStartsTheWaitAgain() {
    election.read(OTHERS, at(100));
    election.read(stored(OTHERS, "8"), at(110));

    assertThat(election.read(stored(OTHERS, "8"), at(124.9))).isNull();
    assertThat(election.read(stored(OTHERS, "8"), at(125))).isNotNull();
  }

  @Test
  void aReleasedLeaseIsFreeAtOnce() {
    assertThat(election.read(new LeaseRecord("", 1, 4, NOON, NOON, "9"), at(100))).isNotNull();
  }

  @Test
  void aRestartedProcessLeadsAgainInTheSameTerm() {
    var next = election.read(new LeaseRecord("a", 15, 4, NOON, NOON, "9"), at(100));

    assertThat(next.transitions()).isEqualTo(4);
    assertThat(election.leads(at(100))).isFalse();
  }

  @Test
  void aDeletedLeaseCountsUntilItWouldHaveEnded() {
    election.read(OTHERS, at(100));

    assertThat(election.absent(at(114.9))).isNull();
    assertThat(election.absent(at(115)).transitions()).isEqualTo(5);
  }

  @ParameterizedTest(name = "{0}: may write {1}, leads {2}")
  @CsvSource({"107.9, true, true", "108, false, true", "109.9, false, true", "110, false, false"})
  void stopsWritingBeforeItGivesUp(double now, boolean mayWrite, boolean leads) {
    leadsSince(100);

    assertThat(election.mayWrite(at(now))).isEqualTo(mayWrite);
    assertThat(election.leads(at(now))).isEqualTo(leads);
  }

  @ParameterizedTest(name = "monotonic {0}, wall {1}")
  @CsvSource({"120, 120", "103, 120", "120, 90"})
  void writesNothingAfterAFreezeOnWhicheverClock(double monotonic, double wall) {
    leadsSince(100);

    assertThat(election.mayWrite(at(monotonic, wall))).isFalse();
    assertThat(election.renewal(at(monotonic, wall))).isNull();
  }

  @Test
  void aSleepOfTheMachineEndsTheTerm() {
    leadsSince(100);

    assertThat(election.leads(at(102, 102.9))).isTrue();
    assertThat(election.leads(at(102, 103.1))).isFalse();
    assertThat(election.mayWrite(at(102, 103.1))).isFalse();
    assertThat(election.leads(at(102, 50))).isTrue();
  }

  @Test
  void noOtherCanTakeItBeforeItsLeaderHasGivenUp() {
    // given a renewal that the other saw the moment it was sent
    leadsSince(100);
    var other = new LeaderElectionState("b", Times.DEFAULT);
    var lease = stored(election.absent(at(100)), "1");
    other.read(lease, at(100));

    for (double now = 100; now < 114.95; now += 0.1) {
      assertThat(other.read(lease, at(now))).isNull();
    }
    assertThat(election.leads(at(110))).isFalse();
  }

  @Test
  void stillLeads_whenTheAnswerToARenewalIsLost() {
    leadsSince(100);
    election.notWritten();
    assertThat(election.renewal(at(102))).isNull();
    assertThat(election.leads(at(102))).isTrue();

    // when it turns out that the renewal had arrived
    var next = election.read(new LeaseRecord("a", 15, 0, NOON, NOON, "2"), at(103));
    assertThat(next.version()).isEqualTo("2");
    assertThat(election.leads(at(103))).isTrue();
  }

  @Test
  void losesItToAnother() {
    leadsSince(100);
    election.read(new LeaseRecord("b", 15, 1, NOON, NOON, "2"), at(101));

    assertThat(election.leads(at(101))).isFalse();
    assertThat(election.holder()).isEqualTo("b");
  }

  @Test
  void knowsItsOwnTerm() {
    leadsSince(100);

    assertThat(election.isOurs(new LeaseRecord("a", 15, 0, NOON, NOON, "3"))).isTrue();
    assertThat(election.isOurs(new LeaseRecord("a", 15, 1, NOON, NOON, "3"))).isFalse();
    assertThat(election.isOurs(new LeaseRecord("b", 15, 0, NOON, NOON, "3"))).isFalse();
  }

  @Test
  void releasesWhatItHolds() {
    assertThat(election.release(at(0))).isNull();
    leadsSince(100);

    var released = election.release(at(101));
    assertThat(released.holder()).isEmpty();
    assertThat(released.durationSeconds()).isEqualTo(1);
    assertThat(released.version()).isEqualTo("1");
  }

  @Test
  void aLeaderRenewsAndReadsSooner_whenItIsNotSure() {
    leadsSince(100);
    assertThat(election.renewal(at(102)).transitions()).isZero();
    assertThat(election.term()).isZero();
    assertThat(election.pause(at(102), () -> -1)).isEqualTo(Duration.ofSeconds(2));

    election.notWritten();
    assertThat(election.pause(at(102), () -> -1)).isEqualTo(Duration.ofMillis(500));
    assertThat(election.pause(at(113), () -> 0)).as("it leads no more")
        .isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void knowsTheTermOfTheLeaderItFollows() {
    assertThat(election.term()).isZero();
    assertThat(election.renewal(at(99))).isNull();
    election.read(OTHERS, at(100));

    assertThat(election.term()).isEqualTo(4);
    assertThat(election.renewal(at(101))).isNull();
  }

  @Test
  void readsAgain_whenTheLeaseMayHaveEnded() {
    assertThat(election.pause(at(0), () -> 0)).isEqualTo(Duration.ofSeconds(2));
    election.read(OTHERS, at(100));
    assertThat(election.pause(at(114), () -> -1)).isEqualTo(Duration.ofSeconds(1));
    assertThat(election.pause(at(115), () -> 0)).isEqualTo(Duration.ofSeconds(2));
    assertThat(election.pause(at(115), () -> -1)).isBetween(Duration.ofMillis(4_399),
        Duration.ofMillis(4_400));
  }

  @Test
  void observesTheLeadersRenewalsSoon_becauseALateReadDelaysTheTakeover() {
    election.read(OTHERS, at(100));

    assertThat(election.pause(at(101), () -> 0)).isEqualTo(Duration.ofSeconds(1));
    assertThat(election.pause(at(101), () -> -1)).isBetween(Duration.ofMillis(1_199),
        Duration.ofMillis(1_200));
  }

  @ParameterizedTest(name = "{0} {1} {2} {3}")
  @CsvSource({"10, 10, 2, 2", "15, 4, 2, 1", "15, 10, 4, 6"})
  void refusesTimesThatLeaveNoRoom(int lease, int renew, int retry, int write) {
    assertThatThrownBy(() -> new Times(Duration.ofSeconds(lease), Duration.ofSeconds(renew),
        Duration.ofSeconds(retry), Duration.ofSeconds(write)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
