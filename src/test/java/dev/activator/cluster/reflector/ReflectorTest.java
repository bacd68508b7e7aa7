package dev.activator.cluster.reflector;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.cluster.FakeSource;
import dev.activator.cluster.JournalLog;
import dev.activator.cluster.RecordingMirror;
import dev.activator.cluster.informer.Sighting;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** One minute to an alarm, two to a restart, three to a doubt, about ten to an audit. */
class ReflectorTest {
  private final JournalLog log = new JournalLog();
  private final VirtualLoop loop = new VirtualLoop();
  private final FakeSource api = new FakeSource(loop);
  private final RecordingMirror<String> mirror = new RecordingMirror<>();
  private final Reflector<String> reflector = new Reflector<>("things", api, mirror,
      () -> mirror.versions, new Upkeep(loop, ReflectorSettings.DEFAULT, new Random(1),
          new Complaints("http://x")));

  @AfterEach
  void stopsReadingTheLog() {
    log.close();
  }

  private void started() {
    reflector.start();
    loop.run();
  }

  /** Time goes by, with a bookmark every half minute. */
  private void pass(Duration time) {
    for (var left = time; left.isPositive(); left = left.minusSeconds(30)) {
      loop.advance(ofSeconds(30));
      api.last().reaches("bookmark at " + loop.elapsed());
    }
  }

  @Test
  void tellsTheFirstListAtOnce() {
    api.put("a");
    api.put("b");

    assertThat(reflector.listed()).isNotDone();
    started();

    assertThat(mirror.calls).containsExactly("replace [a, b]");
    assertThat(reflector.listed()).isDone();
    assertThat(reflector.view().counts().lists()).isOne();
    assertThat(reflector.view().resourceVersion()).isEqualTo("12");
  }

  @Test
  void tellsEveryEventOfTheWatchInOrder() {
    started();

    api.put("a");
    api.put("a");
    api.remove("a");
    loop.run();

    assertThat(mirror.calls).containsExactly("replace []", "put a", "put a", "remove a");
  }

  @Test
  @DisplayName("2.6 tells a list of any size as one replacement, and nothing before its end")
  void tellsARelistAsOneReplacement() {
    api.put("a");
    api.put("b");
    api.put("c");
    started();
    api.losesEvents();
    api.put("b");
    api.remove("c");
    api.put("d");

    loop.advance(ofSeconds(5));
    api.last().relist();
    loop.run();

    assertThat(mirror.calls).containsExactly("replace [a, b, c]", "replace [a, b, d]");
    assertThat(mirror.versions).isEqualTo(api.truth());
    assertThat(reflector.view().counts().relists()).isOne();
  }

  @Test
  @DisplayName("6.5 begins anew within five seconds, knowing what was told, where a session ends")
  void beginsAnewWhereASessionEnds() {
    api.put("a");
    started();

    // when it ends, and something happens before the next
    api.losesEvents();
    api.last().ends(new IllegalStateException("undecodable"));
    api.put("b");
    loop.advance(ofSeconds(5));

    // then another one was opened with what was known, and told only the difference
    assertThat(api.sessions).hasSize(2);
    assertThat(api.last().known).extracting(one -> one.key()).containsExactly("a");
    assertThat(mirror.calls).containsExactly("replace [a]", "replace [a, b]");
    assertThat(api.sessions.getFirst().closed).isTrue();
    assertThat(reflector.view().counts().restarts()).isOne();
  }

  @Test
  void saysWhyItIsBegunAnew() {
    started();

    reflector.distrust("a task was dropped");
    loop.run();

    assertThat(log.lines()).endsWith(
        "WARN The watch of things ended; it is started again: a task was dropped");
  }

  @Test
  void hearsNothingMoreOfASessionThatWasLeft() {
    started();
    var first = api.last();
    first.ends(new IllegalStateException("over"));
    loop.advance(ofSeconds(5));
    mirror.calls.clear();

    first.put(new Sighting<>("late", "u", "1", "late"));
    first.ends(new IllegalStateException("again"));
    loop.advance(ofSeconds(5));

    assertThat(mirror.calls).isEmpty();
    assertThat(api.sessions).hasSize(2);
  }

  @Test
  @DisplayName("6.1 row undecodable: an event without a resourceVersion makes it list again")
  void listsAgainAfterAnEventWithoutAVersion() {
    started();

    api.last().put(new Sighting<>("odd", "u", "", "odd"));
    loop.advance(ofSeconds(5));

    assertThat(mirror.calls).containsExactly("replace []", "replace []");
  }

  @Test
  @DisplayName("8.7 sparing: lists once a second or less while no watch can go on, and soon after")
  void sparesAServerWhoseWatchesAllFailAtOnce() {
    api.put("a");
    started();

    // when for 30 seconds every watch is answered with 410, which the library takes 0.3 s to heed
    for (int i = 0; i < 100; i++) {
      loop.advance(ofMillis(300));
      if (!api.last().closed) {
        api.last().relist();
      }
    }
    assertThat(api.lists).hasSizeLessThanOrEqualTo(30);

    // then it is back within five seconds, and knows what happened
    api.losesEvents();
    api.put("b");
    api.tellsAgain();
    loop.advance(ofSeconds(5));
    api.put("c");
    loop.run();
    assertThat(mirror.versions).isEqualTo(api.truth());
  }

  @Test
  void sparesAServerThatLetsNoWatchInForLongerAndLongerAndSaysSoOnce() {
    api.put("a");
    api.refusesWatches();
    started();

    // when each list is answered, and each watch refused
    loop.advance(ofSeconds(55));
    assertThat(reflector.view().health().alarmed()).isFalse();
    loop.advance(ofSeconds(10));
    assertThat(reflector.view().health().alarmed()).isTrue();
    assertThat(reflector.view().health().watching()).isFalse();
    loop.advance(ofMinutes(9));

    // then lists become rare, at most two in twenty seconds, and the log says each thing once
    assertThat(api.lists.stream().filter(at -> at > ofMinutes(5).toNanos()))
        .hasSizeBetween(2 * 300 / 31, 2 * 316 / 20);
    assertThat(reflector.complaint()).isEqualTo(
        "the Kubernetes API at http://x does not let us list and watch things (403)");
    assertThat(log.lines()).containsExactly(
        "WARN the Kubernetes API at http://x does not let us list and watch things (403);"
            + " trying again",
        "WARN The watch of things cannot go on right after each list; waiting",
        "WARN What is known of things may be old: no watch has been open for 60 s");

    // and half a minute after watches are let in all is well
    api.letsWatchesIn();
    loop.advance(ofSeconds(36));
    api.put("b");
    loop.run();
    assertThat(mirror.versions).isEqualTo(api.truth());
    assertThat(reflector.view().health().alarmed()).isFalse();
    assertThat(reflector.complaint()).isNull();
    assertThat(log.lines()).endsWith("INFO The watch of things is open again");
  }

  @Test
  void sparesTheServerForShortAgainOnceAWatchWasOpen() {
    started();
    api.refusesWatches();
    api.last().relist();
    loop.advance(ofMinutes(5));
    api.letsWatchesIn();
    loop.advance(ofMinutes(1));

    // when watches are refused once more
    api.refusesWatches();
    api.last().relist();
    api.lists.clear();
    loop.advance(ofSeconds(5));

    // then the first pause is one of two to three seconds
    assertThat(api.lists).hasSizeGreaterThanOrEqualTo(3);
  }

  @Test
  void aSecondListAtOnceIsAMatterOfCourse() {
    started();

    loop.advance(ofMillis(300));
    api.last().relist();
    loop.advance(ofSeconds(10));

    assertThat(api.sessions).hasSize(1);
  }

  @Test
  @DisplayName("6.1 row 410 at the handshake: alarms after a minute, lists again after two")
  void alarmsAndThenRestartsWhenNoWatchOpens() {
    api.put("a");
    started();
    pass(ofSeconds(30));

    // when no watch comes back, and the server goes on
    api.losesEvents();
    api.last().watching = false;
    api.put("b");
    loop.advance(ofSeconds(55));
    assertThat(reflector.view().health().alarmed()).isFalse();
    loop.advance(ofSeconds(10));

    // then there is an alarm, and in the end a new session, which ends it
    assertThat(reflector.view().health().alarmed()).isTrue();
    assertThat(reflector.view().health().watching()).isFalse();
    loop.advance(ofSeconds(60));
    assertThat(api.sessions).hasSize(2);
    assertThat(mirror.versions).isEqualTo(api.truth());
    loop.advance(ofSeconds(5));
    assertThat(reflector.view().health().alarmed()).isFalse();
    assertThat(reflector.view().health().watching()).isTrue();
  }

  @Test
  void saysOnceWhyNoWatchIsOpen() {
    api.put("a");
    started();

    // when the server is gone, or does not know us any more, and no session lists anew yet
    api.goesDown();
    loop.advance(ofSeconds(110));

    // then the alarm does not come without its reason
    assertThat(log.lines()).containsExactly(
        "WARN What is known of things may be old: no watch has been open for 60 s",
        "WARN What is known of things cannot be compared with a fresh list:"
            + " cannot reach the Kubernetes API at http://x: down");
    assertThat(api.audits).isOne();
  }

  @Test
  void restartsAgainAndAgainWhileNothingHelps() {
    started();
    api.goesDown();

    loop.advance(ofMinutes(10));

    // then each one had two minutes
    assertThat(api.sessions).hasSizeBetween(5, 6);
    assertThat(reflector.view().health().alarmed()).isTrue();
    assertThat(reflector.complaint())
        .isEqualTo("cannot reach the Kubernetes API at http://x: down");

    // and when it helps, all is well
    api.comesBack();
    api.put("a");
    loop.advance(ofMinutes(3));
    assertThat(mirror.versions).isEqualTo(api.truth());
    assertThat(reflector.complaint()).isNull();
    assertThat(reflector.view().health().alarmed()).isFalse();
  }

  @Test
  @DisplayName("8.8 doubts a watch that is open and silent: three minutes without a bookmark")
  void comparesASilentWatchWithAFreshList() {
    api.put("a");
    started();

    // when it is open but dead
    api.losesEvents();
    api.put("b");
    loop.advance(ofSeconds(175));
    assertThat(api.audits).isZero();
    loop.advance(ofSeconds(30));

    // then that shows, and everything is listed anew
    assertThat(api.audits).isOne();
    assertThat(mirror.versions).isEqualTo(api.truth());
    assertThat(reflector.view().counts().drifted()).isOne();
  }

  @Test
  void reportsAuditsThatFailAndDoesNotAskAgainAtOnce() {
    api.put("a");
    started();
    api.failsAudits(true);

    // when a silent watch is doubted after three minutes and after six, without a list
    loop.advance(ofSeconds(500));
    assertThat(api.audits).isEqualTo(2);
    assertThat(reflector.view().counts().failedAudits()).isEqualTo(2);
    assertThat(log.lines()).singleElement().asString()
        .startsWith("WARN What is known of things cannot be compared with a fresh list: ");

    // then it is said when there is one again
    api.failsAudits(false);
    loop.advance(ofSeconds(240));
    assertThat(reflector.view().counts().failedAudits()).isEqualTo(2);
    assertThat(log.lines())
        .endsWith("INFO What is known of things can be compared with a fresh list again");
  }

  @Test
  void leavesASilentWatchAloneWhereNothingHappens() {
    api.put("a");
    started();

    loop.advance(ofMinutes(9));

    assertThat(api.audits).isEqualTo(2);
    assertThat(api.sessions).hasSize(1);
    assertThat(reflector.view().health().alarmed()).isFalse();
  }

  @Test
  @DisplayName("C-11 an event that was dropped is found by the audit and made up for")
  void findsWhatTheWatchNeverTold() {
    api.put("a");
    api.put("b");
    api.put("c");
    started();

    // when one event of each sort is lost, and others are not
    api.losesEvents();
    api.put("a");
    api.remove("b");
    api.put("d");
    api.tellsAgain();
    api.put("e");
    pass(ofMinutes(9));
    assertThat(mirror.versions).isNotEqualTo(api.truth());

    // then within eleven minutes all is as it is
    pass(ofMinutes(3));
    assertThat(mirror.versions).isEqualTo(api.truth());
    assertThat(reflector.view().counts().drifted()).isEqualTo(3);
    assertThat(reflector.view().counts().restarts()).isOne();
  }

  @Test
  void namesWhatDriftedThoughThereIsAnAlarmAlready() {
    var journal = new Journal("things");
    journal.alarm("no watch");

    journal.drifted(Set.of("ns/a"));

    assertThat(log.lines()).containsExactly("WARN What is known of things may be old: no watch",
        "WARN What was known of things was old: no watch told of ns/a; listing again");
    assertThat(journal.view().health().alarmed()).isTrue();
  }

  @Test
  void doesNotTakeDelayForDrift() {
    api.put("a");
    started();

    // given events that reach the store only after the list of the audit was made
    api.losesEvents();
    api.put("a");
    api.put("b");
    while (api.audits == 0) {
      loop.advance(ofSeconds(1));
      api.last().reaches("bookmark at " + loop.elapsed());
    }

    // when they come within the grace
    for (var key : api.truth().keySet()) {
      api.last().put(new Sighting<>(key, "u",
          String.valueOf(api.truth().get(key)), key));
    }
    loop.advance(ofSeconds(15));

    assertThat(reflector.view().counts().drifted()).isZero();
    assertThat(mirror.versions).isEqualTo(api.truth());
  }

  @Test
  void leavesItsLoopAloneOnceClosedSinceThatMayBeClosedToo() {
    started();
    var session = api.last();
    reflector.close();
    loop.run();
    int pending = loop.pending();

    session.put(new Sighting<>("late", "u", "1", "late"));
    session.ends(new IllegalStateException("over"));

    assertThat(loop.pending()).isEqualTo(pending);
  }

  @Test
  void isSilentOnceClosed() {
    started();
    var session = api.last();

    reflector.close();
    loop.run();
    reflector.close();
    session.put(new Sighting<>("late", "u", "1", "late"));
    session.ends(new IllegalStateException("over"));
    loop.advance(ofMinutes(30));

    assertThat(session.closed).isTrue();
    assertThat(mirror.calls).containsExactly("replace []");
    assertThat(api.sessions).hasSize(1);
    assertThat(api.audits).isZero();
  }
}
