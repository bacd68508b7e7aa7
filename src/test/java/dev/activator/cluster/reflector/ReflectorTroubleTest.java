package dev.activator.cluster.reflector;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.cluster.FakeSource;
import dev.activator.cluster.LogOf;
import dev.activator.cluster.RecordingSink;
import dev.activator.testing.VirtualLoop;
import java.io.IOException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Watches that do not open: the server is spared; one minute to an alarm, two to a restart. */
class ReflectorTroubleTest {
  private static final String ALARM = "WARN What is known of things may be old: no watch has been open for 60 s";
  private static final String REASON = "WARN cannot reach the Kubernetes API at http://x: down; trying again";

  @AutoClose
  private final Reflected things = new Reflected();
  private final LogOf log = things.log;
  private final VirtualLoop loop = things.loop;
  private final FakeSource api = things.api;
  private final RecordingSink<String> mirror = things.mirror;
  private final Reflector<String> reflector = things.reflector;

  @Test
  @DisplayName("8.7 sparing: lists once a second or less while no watch can go on, and soon after")
  void sparesAServerWhoseWatchesAllFailAtOnce() {
    api.put("a");
    things.start();

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
    things.start();

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
    things.start();
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
    things.start();

    loop.advance(ofMillis(300));
    api.last().relist();
    loop.advance(ofSeconds(10));

    assertThat(api.sessions).hasSize(1);
  }

  @Test
  @DisplayName("6.1 row 410 at the handshake: alarms after a minute, lists again after two")
  void alarmsAndThenRestartsWhenNoWatchOpens() {
    api.put("a");
    things.start();
    things.pass(ofSeconds(30));

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
  void restartsAgainAndAgainWhileNothingHelps() {
    things.start();
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
  void saysOnceWhyNoWatchIsOpen() {
    api.put("a");
    things.start();

    // when the server is gone, or does not know us any more, and no session lists anew yet
    api.goesDown();
    loop.advance(ofSeconds(110));

    // then the alarm does not come without its reason, which is no audit
    assertThat(log.lines()).containsExactly(ALARM, REASON);
    assertThat(api.glances).isOne();
    assertThat(api.audits).isZero();
    assertThat(reflector.view().counts().failedAudits()).isZero();
  }

  @Test
  void saysNothingMoreWhereTheReasonIsKnown() {
    api.put("a");
    things.start();

    // when the server is gone, and the session says so
    api.goesDown();
    api.last().relist();
    loop.advance(ofSeconds(110));

    // then nothing else is asked, and nothing is said twice
    assertThat(log.lines()).containsExactly(REASON, ALARM);
    assertThat(api.glances).isZero();
  }

  @Test
  void saysAtEachOutageWhyNoWatchIsOpen() {
    api.put("a");
    things.start();
    api.goesDown();
    loop.advance(ofSeconds(110));
    api.comesBack();
    api.last().watching = true;
    loop.advance(ofSeconds(5));

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
    things.start();

    // when something else raises the alarm first, and the new session loses its watch
    reflector.distrust("the system has no thread for us");
    loop.run();
    while (api.sessions.size() == 1) {
      loop.advance(ofMillis(1));
    }
    api.goesDown();
    assertThat(reflector.view().health().alarmed()).isTrue();
    loop.advance(ofSeconds(70));

    assertThat(log.lines()).endsWith(REASON);
    assertThat(api.glances).isOne();
  }

  @Test
  void doesNotSayWhyNoWatchWasOpenOnceOneIs() {
    api.put("a");
    things.start();
    var answer = api.holdsGlances();
    api.goesDown();
    loop.advance(ofSeconds(65));

    // when a watch is open again, before it was looked at
    api.comesBack();
    api.last().watching = true;
    answer.completeExceptionally(new IOException("late"));
    loop.run();

    // then the failure is not heard any more
    assertThat(log.lines()).containsExactly(ALARM);
    assertThat(reflector.complaint()).isNull();
  }

  @Test
  void doesNotSayInOneOutageWhatFailedBeforeItsEnd() {
    api.put("a");
    things.start();
    var answer = api.holdsGlances();
    api.goesDown();
    loop.advance(ofSeconds(65));

    // when a watch was open, and is lost
    api.last().watching = true;
    loop.advance(ofSeconds(5));
    api.last().watching = false;
    loop.advance(ofSeconds(5));
    answer.completeExceptionally(new IOException("late"));
    loop.run();

    assertThat(log.lines()).containsExactly(ALARM, "INFO The watch of things is open again");
  }

  @Test
  void saysNothingOfAFailureThatComesAfterTheEnd() {
    api.put("a");
    things.start();
    var answer = api.holdsGlances();
    api.goesDown();
    loop.advance(ofSeconds(65));

    reflector.close();
    loop.run();
    answer.completeExceptionally(new IOException("late"));
    loop.run();

    assertThat(log.lines()).containsExactly(ALARM);
  }
}
