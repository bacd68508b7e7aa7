package dev.activator.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.testing.TestRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Seeds;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.quiescence.Quiescence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class AutoscalerLinkTest {
  private static final RevisionId A = new RevisionId("ns", "a");
  private static final RevisionId B = new RevisionId("ns", "b");
  private static final RandomGenerator LOWEST = () -> 0;

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakeAutoscaler autoscaler = new FakeAutoscaler(loop);
  private final List<String> changes = new ArrayList<>();
  private final AutoscalerLink link = link(LOWEST);

  private AutoscalerLink link(RandomGenerator random) {
    var made = new AutoscalerLink(loop, autoscaler, "activator-1", AutoscalerLink.Timings.DEFAULT,
        random);
    made.onChange(new AutoscalerLink.Listener() {
      @Override
      public void connected() {
        changes.add("connected");
      }

      @Override
      public void lost() {
        changes.add("lost");
      }
    });
    return made;
  }

  private void open() {
    link.open();
    loop.advance(Duration.ofMillis(1));
  }

  private static RevisionStat stat(RevisionId revision, double average) {
    return new RevisionStat(revision, average, 0);
  }

  @Test
  void anEmptyReportIsSentOnlyIfItSaysTheUptime() {
    open();
    link.report(List.of());
    loop.advance(Duration.ofMillis(1));
    assertThat(autoscaler.frames()).isZero();

    link.sendUptime();
    link.report(List.of());
    loop.advance(Duration.ofMillis(1));
    assertThat(autoscaler.frames()).isEqualTo(1);
  }

  @Test
  void connectsAgainAtOnce_whenTheAutoscalerIsElsewhere() {
    open();
    link.moved();
    loop.advance(Duration.ofMillis(1));

    assertThat(changes).containsExactly("connected", "lost", "connected");
    assertThat(autoscaler.open()).isEqualTo(1);
    loop.advance(Duration.ofSeconds(30));
    assertThat(autoscaler.attempts()).hasSize(2);
  }

  @Test
  void dialsAgain_whenAnAttemptCannotBegin() {
    var addresses = new BrokenAddress();
    var broken = new AutoscalerLink(loop, addresses, "activator-1",
        AutoscalerLink.Timings.DEFAULT, LOWEST);
    broken.open();
    assertThatThrownBy(() -> loop.run()).isInstanceOf(IllegalArgumentException.class);

    addresses.isBroken = false;
    loop.advance(Duration.ofSeconds(2));

    assertThat(broken.connected()).isTrue();
    broken.close();
  }

  @Test
  void dialsAgain_whenTheNewAddressCannotBeDialled() {
    var addresses = new BrokenAddress();
    addresses.isBroken = false;
    var moved = new AutoscalerLink(loop, addresses, "activator-1", AutoscalerLink.Timings.DEFAULT,
        LOWEST);
    moved.open();
    loop.advance(Duration.ofMillis(1));
    addresses.isBroken = true;
    moved.moved();
    assertThatThrownBy(() -> loop.run()).isInstanceOf(IllegalArgumentException.class);

    addresses.isBroken = false;
    loop.advance(Duration.ofSeconds(2));

    assertThat(moved.connected()).isTrue();
    moved.close();
  }

  /** As where a Lease has a holder that is no address. */
  private final class BrokenAddress implements StatSocket.Dialer {
    private boolean isBroken = true;

    @Override
    public StatSocket dial(StatSocket.Events events) {
      if (isBroken) {
        throw new IllegalArgumentException("no address");
      }
      return autoscaler.dial(events);
    }
  }

  @Test
  void dialsAgain_whenAListenerFails() {
    link.onChange(new AutoscalerLink.Listener() {
      @Override
      public void lost() {
        throw new IllegalStateException("a bug");
      }
    });
    open();
    autoscaler.isUp(false);
    assertThatThrownBy(() -> loop.run()).isInstanceOf(IllegalStateException.class);

    autoscaler.isUp(true);
    loop.advance(Duration.ofSeconds(2));

    assertThat(link.connected()).isTrue();
  }

  @Test
  void sendsInOrder() {
    open();

    link.atOnce(List.of(RevisionStat.first(A)));
    link.report(List.of(stat(A, 0), stat(B, 2)));
    link.report(List.of(stat(A, 1)));
    loop.run();

    assertThat(autoscaler.received()).containsExactly(RevisionStat.first(A), stat(A, 0), stat(B, 2),
        stat(A, 1));
  }

  @Test
  @DisplayName("says when it is connected, and when not")
  void saysWhenItIsConnected() {
    assertThat(link.connected()).isFalse();
    open();
    assertThat(link.connected()).isTrue();
    assertThat(changes).containsExactly("connected");

    autoscaler.isUp(false);
    loop.run();
    assertThat(link.connected()).isFalse();
    assertThat(changes).containsExactly("connected", "lost");
  }

  @Test
  @DisplayName("a first connection that fails is not a loss")
  void aFirstConnectionThatFailsIsNotALoss() {
    autoscaler.isUp(false);
    open();

    assertThat(changes).isEmpty();
  }

  @Test
  @DisplayName("distinguishes a failed attempt from a lost connection")
  void aFailedAttemptAndALostConnectionAreDistinguished() {
    List<String> ends = new ArrayList<>();
    link.onChange(new AutoscalerLink.Listener() {
      @Override
      public void lost() {
        ends.add("lost");
      }

      @Override
      public void failed() {
        ends.add("failed");
      }
    });
    open();
    loop.advance(Duration.ofSeconds(4));

    // when the connection ends, then the attempt at once after it fails, and the next one too
    autoscaler.isUp(false);
    loop.advance(Duration.ofMillis(102));

    assertThat(ends).containsExactly("lost", "failed", "failed");
  }

  @Test
  @DisplayName("pings every 10/3 s")
  void pingsThreeTimesInTenSeconds() {
    open();
    loop.advance(Duration.ofSeconds(11));

    // a third of ten seconds apart, from the opening at 1 ms
    assertThat(autoscaler.pings().stream().map(Duration::toMillis)).containsExactly(3_334L, 6_667L,
        10_000L);
    assertThat(changes).containsExactly("connected");
  }

  @Test
  @DisplayName("gives up a connection without a pong for 10 s")
  void givesUpAConnectionWithoutAPongForTenSeconds() {
    open();
    autoscaler.answersPings(false);

    loop.advance(Duration.ofMillis(9_999));
    assertThat(link.connected()).isTrue();
    loop.advance(Duration.ofMillis(1));

    assertThat(changes).containsExactly("connected", "lost");
    assertThat(autoscaler.open()).isZero();
  }

  @Test
  @DisplayName("a pong puts the deadline off")
  void aPongPutsTheDeadlineOff() {
    open();
    loop.advance(Duration.ofSeconds(5));
    autoscaler.answersPings(false);

    // the last pong was at 3.335 s
    loop.advance(Duration.ofMillis(8_330));
    assertThat(link.connected()).isTrue();
    loop.advance(Duration.ofMillis(10));
    assertThat(changes).startsWith("connected", "lost");
  }

  @Test
  @DisplayName("connects again at once after a connection that worked")
  void connectsAgainAtOnceAfterAConnectionThatWorked() {
    open();
    loop.advance(Duration.ofSeconds(4));

    autoscaler.isUp(false);
    autoscaler.isUp(true);
    loop.advance(Duration.ofMillis(1));

    assertThat(autoscaler.attempts()).containsExactly(Duration.ZERO, Duration.ofMillis(4_001));
    assertThat(link.connected()).isTrue();
  }

  @Test
  @DisplayName("attempts to connect are spaced by the schedule")
  void attemptsToConnectAreSpacedByTheSchedule() {
    autoscaler.isUp(false);
    open();
    loop.advance(Duration.ofMillis(900));

    // each attempt is refused after 1 ms, then pauses of 100, 130, 169, 219.7 and 285.61 ms
    assertThat(autoscaler.attempts().stream().map(Duration::toMillis)).containsExactly(0L, 101L,
        232L, 402L, 622L);
    autoscaler.isUp(true);
    loop.advance(Duration.ofMillis(100));
    assertThat(changes).containsExactly("connected");
  }

  @Test
  void aServerThatAcceptsAndClosesIsNotCalledInACircle() {
    link.open();
    for (int i = 0; i < 1_000; i++) {
      loop.advance(Duration.ofMillis(10));
      autoscaler.isUp(false);
      autoscaler.isUp(true);
    }

    // ten seconds of the schedule are thirteen pauses, not a thousand
    assertThat(autoscaler.attempts()).hasSizeLessThan(16);
  }

  @Test
  @DisplayName("a handshake has 3 s")
  void anAttemptThatIsNotAnsweredEndsAfterThreeSeconds() {
    autoscaler.isSilent(true);
    open();
    loop.advance(Duration.ofMillis(3_150));

    assertThat(autoscaler.attempts()).containsExactly(Duration.ZERO, Duration.ofMillis(3_100));
    assertThat(changes).isEmpty();
  }

  @Test
  @DisplayName("what is sent while there is no connection is dropped")
  void dropsWhatIsSentWhileThereIsNoConnection() {
    autoscaler.isUp(false);
    open();
    link.atOnce(List.of(RevisionStat.first(A)));
    link.report(List.of(stat(A, 1), stat(B, 1)));
    loop.run();

    autoscaler.isUp(true);
    loop.advance(Duration.ofSeconds(1));
    assertThat(link.connected()).isTrue();
    assertThat(autoscaler.received()).isEmpty();

    link.report(List.of(stat(B, 2)));
    loop.run();
    assertThat(autoscaler.received()).containsExactly(stat(B, 2));
  }

  @Test
  @DisplayName("what was sent into a dead connection is not sent again")
  void dropsWhatWasSentIntoADeadConnection() {
    open();
    link.atOnce(List.of(RevisionStat.first(A)));
    loop.run();
    autoscaler.received().clear();

    autoscaler.isUp(false);
    autoscaler.isUp(true);
    // The link does not know yet that the connection is lost.
    link.atOnce(List.of(RevisionStat.first(B)));
    loop.advance(Duration.ofSeconds(1));

    assertThat(changes).containsExactly("connected", "lost", "connected");
    assertThat(autoscaler.received()).isEmpty();
  }

  @Test
  void reportsDoNotPileUpBeforeAnAutoscalerThatDoesNotRead() {
    open();
    autoscaler.reads(false);
    for (int i = 1; i <= 1_000; i++) {
      link.report(List.of(stat(A, i)));
    }
    link.atOnce(List.of(RevisionStat.first(B)));
    loop.run();
    // The message that wakes a revision is written all the same.
    assertThat(autoscaler.received()).containsExactly(RevisionStat.first(B));

    autoscaler.reads(true);
    link.report(List.of(stat(B, 1)));
    loop.run();
    assertThat(autoscaler.received()).containsExactly(RevisionStat.first(B), stat(B, 1));
  }

  @Test
  void doesNothingOnceClosed() {
    open();
    link.close();
    loop.run();
    link.atOnce(List.of(RevisionStat.first(A)));
    loop.advance(Duration.ofMinutes(1));

    assertThat(link.connected()).isFalse();
    assertThat(autoscaler.open()).isZero();
    assertThat(autoscaler.attempts()).hasSize(1);
    assertThat(autoscaler.received()).isEmpty();
  }

  @Test
  void doesNothingOnceClosedBetweenTwoAttempts() {
    autoscaler.isUp(false);
    open();
    link.close();
    loop.advance(Duration.ofMinutes(1));

    assertThat(autoscaler.attempts()).hasSize(1);
  }

  /**
   * An autoscaler that comes, goes, falls silent and does not read, with a reporter on the link: what
   * waits is known soon after it is back, and it never hears of what left before it was.
   */
  @Test
  void reportsTheCurrentCountsAndNothingOfBefore() {
    Seeds.each(seed -> new AutoscalerLinkTest().reportsTheCurrentCountsAndNothingOfBefore(seed));
  }

  private void reportsTheCurrentCountsAndNothingOfBefore(long seed) {
    var random = new Random(seed);
    var linkUnderTest = link(random);
    var revisions = new TestRevisions(loop);
    var reporter = Quiescence
        .watch(new ConcurrencyReporter(revisions.live, loop, Duration.ofSeconds(1), linkUnderTest));
    linkUnderTest.onChange(reporter);
    var counter = reporter.onLoop(loop);
    List<RevisionId> there = new ArrayList<>();
    // Revisions that had a request since the connection opened, the only ones it may hear of.
    Set<RevisionId> current = new HashSet<>();
    linkUnderTest.onChange(new AutoscalerLink.Listener() {
      @Override
      public void connected() {
        current.clear();
        current.addAll(there);
        autoscaler.received().clear();
      }
    });
    linkUnderTest.open();
    reporter.start();
    for (int i = 0; i < 200; i++) {
      switch (random.nextInt(8)) {
        case 0 -> autoscaler.isUp(random.nextBoolean());
        case 1 -> autoscaler.answersPings(random.nextBoolean());
        case 2 -> autoscaler.isSilent(random.nextInt(4) == 0);
        case 3 -> autoscaler.reads(random.nextBoolean());
        case 4, 5 -> {
          var revision = new RevisionId("ns", "r" + random.nextInt(20));
          there.add(revision);
          current.add(revision);
          counter.of(revisions.begun(revision)).arrived();
        }
        default -> {
          if (!there.isEmpty()) {
            counter.of(revisions.of(there.remove(random.nextInt(there.size())))).left();
          }
        }
      }
      loop.advance(Duration.ofMillis(random.nextInt(3_000)));
      assertThat(autoscaler.open()).isLessThanOrEqualTo(1);
      assertThat(linkUnderTest.connected()).isEqualTo(autoscaler.open() == 1);
      assertThat(autoscaler.received())
          .filteredOn(stat -> stat.averageConcurrency() > 0 || stat.requestCount() > 0)
          .extracting(RevisionStat::revision).isSubsetOf(current);
    }
    autoscaler.isUp(false);
    loop.run();
    autoscaler.isUp(true);
    autoscaler.answersPings(true);
    autoscaler.isSilent(false);
    autoscaler.reads(true);
    while (!linkUnderTest.connected()) {
      loop.advance(Duration.ofMillis(1));
    }

    assertThat(autoscaler.received()).containsExactlyInAnyOrderElementsOf(there.stream().distinct()
        .map(id -> RevisionStat.atOnce(id, Collections.frequency(there, id))).toList());
    for (int i = 0; i < changes.size(); i++) {
      assertThat(changes.get(i)).isEqualTo(i % 2 == 0 ? "connected" : "lost");
    }
  }
}
