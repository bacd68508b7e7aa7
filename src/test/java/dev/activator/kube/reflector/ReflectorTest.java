package dev.activator.kube.reflector;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.decode.ListWatchParser.WatchEvent;
import dev.activator.kube.informer.VersionedObject;
import java.io.IOException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a sink is given, and when a watch is resumed or everything is listed again. */
@Isolated // It reads what classes write in the log.
class ReflectorTest extends Reflected {
  @Test
  void reportsTheFirstListAtOnce() {
    api.put("a");
    api.put("b");
    assertThat(reflector.view().health().listed()).isFalse();

    start();

    assertThat(sink.calls).containsExactly("replace [a, b]");
    assertThat(reflector.view().health().listed()).isTrue();
    assertThat(reflector.view().counts().lists()).isOne();
    assertThat(reflector.view().resourceVersion()).isEqualTo("12");
    assertThat(api.last().from).isEqualTo("12");
  }

  @Test
  void reportsEveryEventOfTheWatchInOrder() {
    start();
    api.put("a");
    api.put("a");
    api.remove("a");
    loop.run();

    assertThat(sink.calls).containsExactly("replace []", "put a", "put a", "remove a");
  }

  @Test
  @DisplayName("reports a list of any size as one replacement, and nothing before its end")
  void reportsARelistAsOneReplacement() {
    api.put("a");
    api.put("b");
    api.put("c");
    start();
    api.losesEvents();
    api.put("b");
    api.remove("c");
    api.put("d");
    loop.advance(ofSeconds(5));

    api.last().fails(410);
    loop.advance(ofSeconds(1));

    assertThat(sink.calls).containsExactly("replace [a, b, c]", "replace [a, b, d]");
    assertThat(sink.versions).isEqualTo(api.truth());
    assertThat(reflector.view().counts().lists()).isEqualTo(2);
  }

  @Test
  @DisplayName("resumes a watch that was lost from the last event or bookmark, without a list")
  void resumesWhereItWas() {
    api.put("a");
    start();
    api.put("b");
    loop.advance(ofSeconds(2));
    api.last().ends(new IOException("reset"));
    loop.advance(ofMillis(400));
    assertThat(api.last().from).isEqualTo("12");

    api.last().bookmark("20");
    loop.advance(ofSeconds(2));
    api.last().ends(null);
    loop.run();
    assertThat(api.last().from).isEqualTo("20");
    assertThat(api.lists).hasSize(1);
    assertThat(sink.calls).containsExactly("replace [a]", "put b");
    assertThat(log.lines()).isEmpty();
  }

  @ParameterizedTest(name = "{0} in the stream: resumes where it was, without a list")
  @ValueSource(ints = {429, 500, 503, 504})
  void resumesAfterAFailureInTheStream(int code) {
    start();
    api.put("a");
    loop.run();

    api.last().fails(code);
    loop.advance(ofMillis(400));

    assertThat(api.watches).hasSize(2);
    assertThat(api.last().from).isEqualTo("11");
    assertThat(api.lists).hasSize(1);
  }

  @Test
  @DisplayName("a watch that ends within a second without a word: lists again")
  void listsAgainAfterAWatchWithoutEvents() {
    start();
    loop.advance(ofMillis(900));

    api.last().ends(null);
    loop.advance(ofSeconds(1));

    assertThat(api.lists).hasSize(2);
  }

  @Test
  @DisplayName("begins again within five seconds when a watch breaks")
  void beginsAgainWhereAWatchBreaks() {
    api.put("a");
    start();

    // when something comes that cannot be decoded, and something happens before the next list
    api.losesEvents();
    api.last().ends(new IllegalStateException("undecodable"));
    api.put("b");
    loop.advance(ofSeconds(5));

    // then everything is listed again, as one replacement
    assertThat(api.watches).hasSize(2);
    assertThat(sink.calls).containsExactly("replace [a]", "replace [a, b]");
    assertThat(api.watches.getFirst().closed).isTrue();
    assertThat(reflector.view().counts().restarts()).isOne();
  }

  @Test
  void saysWhyItBeginsAgain() {
    start();
    api.last().ends(new IllegalStateException("an event has the unknown type 'X'"));
    loop.run();
    assertThat(log.lines()).endsWith("WARN The watch of things ended; everything is listed again:"
        + " java.lang.IllegalStateException: an event has the unknown type 'X'");
  }

  @Test
  void receivesNothingMoreOfAWatchThatWasCancelled() {
    start();
    var first = api.last();
    first.ends(new IllegalStateException("over"));
    loop.advance(ofSeconds(5));
    sink.calls.clear();

    first.tells(new WatchEvent.Put<>(new VersionedObject<>("late", "u", "1", "late")));
    first.ends(new IllegalStateException("again"));
    loop.advance(ofSeconds(5));

    assertThat(sink.calls).isEmpty();
    assertThat(api.watches).hasSize(2);
  }

  @Test
  void leavesItsLoopAloneOnceClosedSinceThatMayBeClosedToo() {
    start();
    var watch = api.last();
    reflector.close();
    loop.run();
    int pending = loop.pending();

    watch.tells(new WatchEvent.Put<>(new VersionedObject<>("late", "u", "1", "late")));
    watch.ends(new IllegalStateException("over"));

    assertThat(loop.pending()).isEqualTo(pending);
  }

  @Test
  void isSilentOnceClosed() {
    start();
    var watch = api.last();
    reflector.close();
    loop.run();
    reflector.close();
    watch.tells(new WatchEvent.Put<>(new VersionedObject<>("late", "u", "1", "late")));
    watch.ends(new IllegalStateException("over"));
    loop.advance(ofMinutes(30));

    assertThat(watch.closed).isTrue();
    assertThat(sink.calls).containsExactly("replace []");
    assertThat(api.watches).hasSize(1);
    assertThat(api.audits).isZero();
  }
}
