package dev.activator.cluster.reflector;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.cluster.FakeSource;
import dev.activator.cluster.LogOf;
import dev.activator.cluster.RecordingSink;
import dev.activator.cluster.informer.VersionedObject;
import dev.activator.testing.VirtualLoop;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a mirror is told, and when a session ends and the next begins. */
class ReflectorTest {
  @AutoClose
  private final Reflected things = new Reflected();
  private final LogOf log = things.log;
  private final VirtualLoop loop = things.loop;
  private final FakeSource api = things.api;
  private final RecordingSink<String> mirror = things.mirror;
  private final Reflector<String> reflector = things.reflector;

  @Test
  void tellsTheFirstListAtOnce() {
    api.put("a");
    api.put("b");

    assertThat(reflector.listed()).isNotDone();
    things.start();

    assertThat(mirror.calls).containsExactly("replace [a, b]");
    assertThat(reflector.listed()).isDone();
    assertThat(reflector.view().counts().lists()).isOne();
    assertThat(reflector.view().resourceVersion()).isEqualTo("12");
  }

  @Test
  void tellsEveryEventOfTheWatchInOrder() {
    things.start();

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
    things.start();
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
    things.start();

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
    things.start();

    reflector.distrust("a task was dropped");
    loop.run();

    assertThat(log.lines()).endsWith(
        "WARN The watch of things ended; it is started again: a task was dropped");
  }

  @Test
  void hearsNothingMoreOfASessionThatWasLeft() {
    things.start();
    var first = api.last();
    first.ends(new IllegalStateException("over"));
    loop.advance(ofSeconds(5));
    mirror.calls.clear();

    first.put(new VersionedObject<>("late", "u", "1", "late"));
    first.ends(new IllegalStateException("again"));
    loop.advance(ofSeconds(5));

    assertThat(mirror.calls).isEmpty();
    assertThat(api.sessions).hasSize(2);
  }

  @Test
  @DisplayName("6.1 row undecodable: an event without a resourceVersion makes it list again")
  void listsAgainAfterAnEventWithoutAVersion() {
    things.start();

    api.last().put(new VersionedObject<>("odd", "u", "", "odd"));
    loop.advance(ofSeconds(5));

    assertThat(mirror.calls).containsExactly("replace []", "replace []");
  }

  @Test
  void leavesItsLoopAloneOnceClosedSinceThatMayBeClosedToo() {
    things.start();
    var session = api.last();
    reflector.close();
    loop.run();
    int pending = loop.pending();

    session.put(new VersionedObject<>("late", "u", "1", "late"));
    session.ends(new IllegalStateException("over"));

    assertThat(loop.pending()).isEqualTo(pending);
  }

  @Test
  void isSilentOnceClosed() {
    things.start();
    var session = api.last();

    reflector.close();
    loop.run();
    reflector.close();
    session.put(new VersionedObject<>("late", "u", "1", "late"));
    session.ends(new IllegalStateException("over"));
    loop.advance(ofMinutes(30));

    assertThat(session.closed).isTrue();
    assertThat(mirror.calls).containsExactly("replace []");
    assertThat(api.sessions).hasSize(1);
    assertThat(api.audits).isZero();
  }
}
