package dev.activator.kube.reflector;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.decode.ListWatchParser.Page;
import dev.activator.testing.VirtualLoop;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Watches that do not open: the server is spared; one minute to an alarm, two to a restart. */
@Isolated // It reads what classes write in the log.
class ReflectorTroubleTest extends Reflected {
  private static final String ALARM = "WARN The stored things may be stale: no watch has been open for 60 s";
  private static final String REASON = "WARN cannot reach the Kubernetes API at http://x: down; trying again";

  @Test
  @DisplayName("sparing: lists once a second or less while no watch can go on, and soon after")
  void sparesAServerWhoseWatchesAllFailAtOnce() {
    api.put("a");
    start();

    // when for 30 seconds every watch is answered with 410
    for (int i = 0; i < 300; i++) {
      loop.advance(ofMillis(100));
      if (api.last().open) {
        api.last().fails(410);
      }
    }
    assertThat(api.lists).hasSizeBetween(5, 30);

    // then it is back within five seconds, and knows what happened
    api.losesEvents();
    api.put("b");
    api.tellsAgain();
    loop.advance(ofSeconds(5));
    api.put("c");
    loop.run();
    assertThat(sink.versions).isEqualTo(api.truth());
  }

  @Test
  void sparesAServerThatLetsNoWatchInForLongerAndLongerAndSaysSoOnce() {
    api.put("a");
    api.refusesWatches(403);
    start();

    // when each list is answered, and each watch refused
    loop.advance(ofSeconds(55));
    assertThat(reflector.view().health().alarmed()).isFalse();
    loop.advance(ofSeconds(10));
    assertThat(reflector.view().health().alarmed()).isTrue();
    assertThat(reflector.view().health().watching()).isFalse();
    loop.advance(ofMinutes(9));

    // then lists become rare, at most two in twenty seconds, and the log says each thing once
    assertThat(api.lists.stream().filter(at -> at > ofMinutes(5).toNanos()))
        .hasSizeBetween(300 / 31, 2 * 316 / 20);
    assertThat(reflector.error()).isEqualTo(
        "the Kubernetes API at http://x does not allow the activator to watch things.example.com -A (403)");
    assertThat(log.lines()).containsExactly(
        "WARN the Kubernetes API at http://x does not allow the activator to watch things.example.com -A (403);"
            + " trying again",
        "WARN The watch of things fails right after each list; the next list is delayed",
        "WARN The stored things may be stale: no watch has been open for 60 s");

    // and half a minute after watches are let in all is well
    api.letsWatchesIn();
    loop.advance(ofSeconds(36));
    api.put("b");
    loop.run();
    assertThat(sink.versions).isEqualTo(api.truth());
    assertThat(reflector.view().health().alarmed()).isFalse();
    assertThat(reflector.error()).isNull();
    assertThat(log.lines()).endsWith("INFO The watch of things is open again");
  }

  @Test
  void sparesTheServerForShortAgainOnceAWatchWasOpen() {
    start();
    api.refusesWatches(403);
    loop.advance(ofMinutes(5));
    api.letsWatchesIn();
    loop.advance(ofMinutes(1));

    // when watches are refused once more
    api.refusesWatches(403);
    api.lists.clear();
    loop.advance(ofSeconds(5));

    // then the first pause is one of two to three seconds
    assertThat(api.lists).hasSizeGreaterThanOrEqualTo(3);
  }

  @Test
  void sparesAServerThatOpensEachWatchAndFailsInItsStream() {
    start();

    for (int i = 0; i < 600; i++) {
      loop.advance(ofMillis(100));
      if (api.last().open) {
        api.last().fails(500);
      }
    }

    // then pauses grow, as where no watch opens
    assertThat(api.watches).hasSizeBetween(4, 12);
  }

  @Test
  void sparesAServerThatOpensEachWatchAndEndsItAtOnceMoreAndMore() {
    start();
    while (loop.elapsed().compareTo(ofMinutes(10)) < 0) {
      loop.advance(ofMillis(100));
      if (api.last().open) {
        api.last().ends(null);
      }
    }
    // then pauses grow from two seconds to twenty or more
    assertThat(api.lists.stream().filter(at -> at < ofSeconds(20).toNanos()))
        .hasSizeBetween(6, 12);
    assertThat(api.lists.stream().filter(at -> at > ofMinutes(5).toNanos()))
        .hasSizeBetween(300 / 31, 300 / 20 + 1);
  }

  @Test
  void sparesAServerThatEndsEachWatchAfterABookmarkMoreAndMore() {
    start();
    for (int i = 0; i < 6_000; i++) {
      loop.advance(ofMillis(100));
      if (api.last().open) {
        api.last().bookmark("20");
        api.last().ends(null);
        loop.run();
      }
    }
    assertThat(api.watches).hasSizeBetween(8, 40);
  }

  @Test
  void comesBackSoonToWatchesThatReportObjects_howeverShortTheyAre() {
    start();
    for (int i = 0; i < 600; i++) {
      loop.advance(ofMillis(100));
      if (api.last().open) {
        api.put("a");
        api.last().ends(null);
        loop.run();
      }
    }
    // then it never knows less than half a second ago
    assertThat(api.watches).hasSizeGreaterThan(100);
  }

  @Test
  void countsEachWatchThatEndsButNotThoseThatDidNotOpen() {
    start();
    loop.advance(ofSeconds(5));
    api.last().ends(null);
    loop.advance(ofSeconds(5));
    api.last().ends(new IOException("reset"));
    api.refusesWatches(503);
    loop.advance(ofSeconds(5));

    assertThat(reflector.view().counts().ends()).isEqualTo(2);
  }

  @Test
  void readsTheNextEventsWhileItHandlesThese() {
    start();
    api.put("a");
    api.put("b");
    assertThat(api.last().readOn).isZero();

    loop.run();

    assertThat(api.last().readOn).isEqualTo(2);
  }

  @Test
  void endsTheListThatIsUnderWayWhenItIsClosed() {
    api.answersNoLists(true);
    start();
    assertThat(api.unanswered).singleElement().matches(list -> !list.isDone());

    reflector.close();
    loop.run();

    assertThat(api.unanswered).singleElement().matches(CompletableFuture::isCancelled);
  }

  @Test
  void leavesAServerAloneForAsLongAsItsAnswerToAListSays() {
    api.refusesLists(new KubernetesApiException(429, ofSeconds(20)));
    start();
    loop.advance(ofSeconds(19));
    assertThat(api.lists).hasSize(1);

    // Half as long again, so that not all clients return together.
    loop.advance(ofSeconds(11));
    assertThat(api.lists).hasSize(2);
  }

  @Test
  void leavesAServerAloneForMinutes_whenItsAnswerToAListSaysSo() {
    api.refusesLists(new KubernetesApiException(429, ofMinutes(5)));
    start();

    loop.advance(ofSeconds(299));

    assertThat(api.lists).hasSize(1);
  }

  @Test
  void leavesAServerAloneForMinutes_whenItsAnswerToAWatchSaysSo() {
    start();
    loop.advance(ofSeconds(30));
    api.last().ends(new KubernetesApiException(503, ofMinutes(5)));

    loop.advance(ofSeconds(299));

    assertThat(api.lists).hasSize(1);
    assertThat(api.watches).hasSize(1);
    loop.advance(ofSeconds(151));
    assertThat(api.watches).hasSize(2);
  }

  @Test
  void listsAgainInTime_whenEachAnswerToAWatchHasAShortRetryAfter() {
    start();
    loop.advance(ofSeconds(30));
    api.last().ends(new KubernetesApiException(503, ofSeconds(1)));
    api.refusesWatches(new KubernetesApiException(503, ofSeconds(1)));

    loop.advance(ofSeconds(130));

    assertThat(api.lists).hasSize(2);
  }

  @Test
  void reportsToAllThatWatchesAreOpen_thoughOneFails() {
    var received = new ArrayList<Boolean>();
    reflector.onWatchChange(_ -> {
      throw new IllegalStateException("a bug");
    });
    reflector.onWatchChange(received::add);
    start();

    api.goesDown();
    loop.advance(ofSeconds(10));
    api.comesBack();
    loop.advance(ofSeconds(60));

    assertThat(received).containsExactly(false, true);
  }

  @Test
  void goesOnWithAListWhosePagesTakeMinutesInAll() {
    var slow = new SlowPages(loop);
    var patient = new Reflector<>("pages", "pages -A", slow, sink, () -> sink.versions,
        new ReflectorContext(loop, ReflectorSettings.DEFAULT, new Random(1),
            new ApiErrorText("http://x")));
    patient.start();

    loop.advance(ofMinutes(8));

    assertThat(slow.begun).isOne();
    assertThat(patient.view().health().listed()).isTrue();
  }

  /** Twenty pages, each of which takes twenty seconds; watches stay silent. */
  private static final class SlowPages implements ListerWatcher<String> {
    private final VirtualLoop loop;
    private int begun;

    private SlowPages(VirtualLoop loop) {
      this.loop = loop;
    }

    @Override
    public CompletableFuture<Page<String>> page(String next) {
      begun += next.isEmpty() ? 1 : 0;
      int number = next.isEmpty() ? 1 : Integer.parseInt(next) + 1;
      var answer = new CompletableFuture<Page<String>>();
      loop.schedule(ofSeconds(20), () -> answer
          .complete(new Page<>(List.of(), "7", number == 20 ? "" : String.valueOf(number))));
      return answer;
    }

    @Override
    public CompletableFuture<Page<String>> unpaged() {
      return page("");
    }

    @Override
    public Watch watch(String resourceVersion, Watcher<String> watcher) {
      watcher.opened();
      return () -> {
      };
    }
  }

  @Test
  void leavesNoTimerBehindWhenItIsClosed() {
    start();

    reflector.close();
    loop.run();

    assertThat(loop.pending()).isZero();
  }

  @Test
  void aSecondListAtOnceIsAMatterOfCourse() {
    start();
    loop.advance(ofMillis(300));
    api.last().fails(410);
    loop.advance(ofSeconds(10));
    assertThat(api.lists).hasSize(2);
    assertThat(reflector.view().counts().restarts()).isZero();
  }

  @ParameterizedTest(name = "{0} instead of a watch: lists again")
  @ValueSource(ints = {400, 401, 403, 404, 410, 422})
  void listsAgainWhereAWatchIsRefused(int code) {
    api.put("a");
    start();
    api.losesEvents();
    api.put("b");
    api.refusesWatches(code);
    loop.advance(ofSeconds(1));
    assertThat(sink.versions).isEqualTo(api.truth());
  }

  @Test
  @DisplayName("no watch opens again: alarms after a minute, lists again after two")
  void alarmsAndThenListsAgainWhenNoWatchOpens() {
    api.put("a");
    start();
    pass(ofSeconds(30));

    // when no watch comes back, and the server goes on
    api.losesEvents();
    api.refusesWatches(503);
    api.put("b");
    loop.advance(ofSeconds(55));
    assertThat(reflector.view().health().alarmed()).isFalse();
    loop.advance(ofSeconds(10));

    // then there is an alarm, and in the end a new list, and a watch that is open ends it
    assertThat(reflector.view().health().alarmed()).isTrue();
    assertThat(reflector.view().health().watching()).isFalse();
    assertThat(api.lists).hasSize(1);
    loop.advance(ofSeconds(60));
    assertThat(api.lists).hasSize(2);
    assertThat(sink.versions).isEqualTo(api.truth());
    api.letsWatchesIn();
    loop.advance(ofSeconds(60));
    assertThat(reflector.view().health().alarmed()).isFalse();
    assertThat(reflector.view().health().watching()).isTrue();
  }

  @Test
  @DisplayName("tries again and again while nothing helps, at most twice a minute in the end")
  void triesAgainAndAgainWhileNothingHelps() {
    start();
    api.goesDown();
    loop.advance(ofMinutes(10));
    assertThat(api.watches.size() + api.lists.size()).isBetween(15, 40);
    assertThat(reflector.view().health().alarmed()).isTrue();
    assertThat(reflector.error())
        .isEqualTo("cannot reach the Kubernetes API at http://x: down");

    // and when it helps, all is well
    api.comesBack();
    api.put("a");
    loop.advance(ofMinutes(3));
    assertThat(sink.versions).isEqualTo(api.truth());
    assertThat(reflector.error()).isNull();
    assertThat(reflector.view().health().alarmed()).isFalse();
  }

  @Test
  void saysOnceWhyNoWatchIsOpen() {
    api.put("a");
    start();

    // when the server is gone, and nothing is listed anew yet
    api.goesDown();
    loop.advance(ofSeconds(110));

    // then the alarm does not come without its reason
    assertThat(log.lines()).containsExactly(ALARM, REASON);
    assertThat(api.lists).hasSize(1);
    assertThat(api.audits).isZero();
    assertThat(reflector.view().counts().failedAudits()).isZero();
  }

  @Test
  void saysNothingMoreWhereTheReasonIsKnown() {
    api.put("a");
    start();

    // when the server is gone, and a list has failed
    api.last().fails(410);
    api.goesDown();
    loop.advance(ofSeconds(110));

    // then nothing is said twice
    assertThat(log.lines()).containsExactly(REASON, ALARM);
  }

  @Test
  void reportsWhenNoWatchIsOpen_butNotOfOneThatIsResumedAtOnce() {
    var received = new ArrayList<Boolean>();
    reflector.onWatchChange(received::add);
    start();
    for (int i = 0; i < 20; i++) {
      loop.advance(ofSeconds(3));
      api.last().ends(null);
    }
    assertThat(received).isEmpty();

    api.goesDown();
    loop.advance(ofSeconds(6));
    assertThat(received).containsExactly(false);
    loop.advance(ofSeconds(60));
    assertThat(received).containsExactly(false);

    api.comesBack();
    loop.advance(ofSeconds(60));
    assertThat(received).containsExactly(false, true);
  }

  @Test
  void listsSoonAfterAnOutage_whenTheWatchHasExpired() {
    start();
    api.goesDown();
    loop.advance(ofSeconds(40));
    api.refusesWatches(410);
    api.comesBack();
    int asked = api.watches.size();
    while (api.watches.size() == asked) {
      loop.advance(ofMillis(100));
    }

    api.letsWatchesIn();
    api.lists.clear();
    loop.advance(ofSeconds(1));

    assertThat(api.lists).hasSize(1);
  }

  @Test
  void saysAtEachOutageWhyNoWatchIsOpen() {
    api.put("a");
    start();
    api.goesDown();
    loop.advance(ofSeconds(110));
    api.comesBack();
    loop.advance(ofSeconds(60));

    // when the server is gone once more, before any comparison
    api.goesDown();
    loop.advance(ofSeconds(70));

    assertThat(log.lines()).containsExactly(ALARM, REASON,
        "INFO The watch of things is open again", ALARM, REASON);
    assertThat(api.audits).isZero();
  }

  @Test
  void saysTheReasonAlsoWhereItWasAlarmedBefore() {
    api.put("a");
    start();

    // when a drift raises the alarm first, and no watch opens after that
    api.losesEvents();
    api.put("a");
    loop.advance(ofSeconds(183));
    api.refusesWatches(503);
    api.tellsAgain();
    while (!reflector.view().health().alarmed()) {
      loop.advance(ofMillis(100));
    }
    loop.advance(ofSeconds(70));

    assertThat(log.lines()).endsWith(
        "WARN the Kubernetes API at http://x answers 503 to watch things.example.com -A; trying again");
  }

  @Test
  void saysNothingOfAWatchThatIsLostForShort() {
    start();
    loop.advance(ofSeconds(10));
    api.last().ends(new IOException("reset"));
    loop.advance(ofSeconds(10));
    assertThat(log.lines()).isEmpty();
    assertThat(reflector.error()).isNull();
    assertThat(reflector.view().counts().failures()).isOne();
  }
}
