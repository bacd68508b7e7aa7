package dev.activator.kube.reflector;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.decode.ListWatchParser.WatchEvent;
import dev.activator.kube.informer.VersionedObject;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.jupiter.api.parallel.Isolated;

/** Watches that are open and do not tell: three minutes to a doubt, about ten to an audit. */
@Isolated // It reads what classes write in the log.
class ReflectorAuditTest extends Reflected {
  @Test
  @DisplayName("doubts a watch that is open and silent: three minutes without a bookmark")
  void comparesASilentWatchWithAFreshList() {
    api.put("a");
    start();

    // when it is open but dead
    api.losesEvents();
    api.put("b");
    loop.advance(ofSeconds(175));
    assertThat(api.audits).isZero();
    loop.advance(ofSeconds(30));

    // then that shows, and everything is listed anew
    assertThat(api.audits).isOne();
    assertThat(sink.versions).isEqualTo(api.truth());
    assertThat(reflector.view().counts().drifted()).isOne();
  }

  @Test
  void givesUpAComparisonWhoseListDoesNotCome() {
    start();

    // when a silent watch is doubted, and the list is not answered for two minutes
    api.answersNoLists(true);
    loop.advance(ofSeconds(185));
    assertThat(api.unanswered).hasSize(1);
    loop.advance(ofSeconds(121));

    // then that comparison has failed, and the next one is begun in its turn
    assertThat(reflector.view().counts().failedAudits()).isOne();
    assertThat(api.unanswered.getFirst()).isCancelled();
    api.answersNoLists(false);
    loop.advance(ofSeconds(185));
    assertThat(api.audits).isEqualTo(2);
  }

  @Test
  void endsTheListOfAComparisonWhenItIsClosed() {
    start();
    api.answersNoLists(true);
    loop.advance(ofSeconds(185));

    reflector.close();
    loop.run();

    assertThat(api.unanswered).singleElement().matches(CompletableFuture::isCancelled);
    assertThat(loop.pending()).isZero();
  }

  @Test
  void reportsAuditsThatFailAndDoesNotRepeatThemAtOnce() {
    api.put("a");
    start();

    api.failsLists(true);
    // when a silent watch is doubted after three minutes and after six, without a list
    loop.advance(ofSeconds(500));
    assertThat(api.audits).isEqualTo(2);
    assertThat(reflector.view().counts().failedAudits()).isEqualTo(2);
    assertThat(log.lines()).singleElement().asString()
        .startsWith("WARN The stored things cannot be compared with a fresh list: ");

    // then it is said when there is one again
    api.failsLists(false);
    loop.advance(ofSeconds(240));
    assertThat(reflector.view().counts().failedAudits()).isEqualTo(2);
    assertThat(log.lines())
        .endsWith("INFO The stored things can be compared with a fresh list again");
  }

  @Test
  void leavesASilentWatchAloneWhereNothingHappens() {
    api.put("a");
    start();
    loop.advance(ofMinutes(9));
    assertThat(api.audits).isEqualTo(2);
    assertThat(api.watches).hasSize(1);
    assertThat(reflector.view().health().alarmed()).isFalse();
  }

  @ParameterizedTest(name = "{0} days")
  @ValueSource(longs = {106_750, 106_752, 1_000_000})
  void listsAndAudits_whereSettingsAreNearTheEndOfTheirRange(long days) {
    var never = Duration.ofDays(days);
    try (var seldom = new Reflector<>("things", "things -A", api, sink, () -> sink.versions,
        new ReflectorContext(loop, new ReflectorSettings(never, ofMinutes(3), never, never),
            new Random(1), new ApiErrorText("http://x")))) {
      api.put("a");
      seldom.start();
      loop.run();
      assertThat(sink.versions).isEqualTo(api.truth());

      loop.advance(ofMinutes(4));

      assertThat(api.audits).isOne();
    }
    loop.run();
  }

  @Test
  @DisplayName("an event that was dropped is found by the audit and made up for")
  void findsWhatTheWatchNeverReported() {
    api.put("a");
    api.put("b");
    api.put("c");
    start();

    // when one event of each sort is lost, and others are not
    api.losesEvents();
    api.put("a");
    api.remove("b");
    api.put("d");
    api.tellsAgain();
    api.put("e");
    pass(ofMinutes(9));
    assertThat(sink.versions).isNotEqualTo(api.truth());

    // then within eleven minutes all is as it is
    pass(ofMinutes(3));
    assertThat(sink.versions).isEqualTo(api.truth());
    assertThat(reflector.view().counts().drifted()).isEqualTo(3);
    assertThat(reflector.view().counts().restarts()).isOne();
  }

  @Test
  void namesWhatDriftedThoughThereIsAnAlarmAlready() {
    var stats = new ReflectorStats("things", "things -A");
    stats.alarm("no watch");
    stats.drifted(Set.of("ns/a"));
    assertThat(log.lines()).containsExactly("WARN The stored things may be stale: no watch",
        "WARN The stored things were stale: no watch event came for ns/a; listing again");
    assertThat(stats.view().health().alarmed()).isTrue();
  }

  @Test
  void doesNotTakeDelayForDrift() {
    api.put("a");
    start();

    // given events that reach the store only after the list of the audit was made
    api.losesEvents();
    api.put("a");
    api.put("b");
    while (api.audits == 0) {
      loop.advance(ofSeconds(1));
      api.last().bookmark("bookmark at " + loop.elapsed());
    }
    // when they come within the grace
    for (var key : api.truth().keySet()) {
      api.last().tells(new WatchEvent.Put<>(new VersionedObject<>(key, "u",
          String.valueOf(api.truth().get(key)), key)));
    }
    loop.advance(ofSeconds(15));

    assertThat(reflector.view().counts().drifted()).isZero();
    assertThat(sink.versions).isEqualTo(api.truth());
  }
}
