package dev.activator.testing.faults;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.ENDPOINTS;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.testing.EmbeddedApi;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A server whose clock the test moves. */
class ClockWireTest {
  private static final String PATH = "/api/v1/namespaces/default/configmaps";

  @AutoClose
  private final EmbeddedApi api = EmbeddedApi.stepped();

  @Test
  @DisplayName("a bookmark comes after a minute of the server's time, and the end in its time")
  void movesTheClockOfAWatch() {
    long start = api.store().revision();
    try (var watch = RawClient.get(api.port(), PATH + "?watch=1&allowWatchBookmarks=true"
        + "&timeoutSeconds=100&resourceVersion=" + start)) {
      watch.head();
      api.store().create(ENDPOINTS, named("e"));

      // given a minute less a second, then nothing has come
      api.advance(ofSeconds(59));
      assertThat(watch.silent()).isTrue();

      // when the minute is over, then a bookmark tells the revision of another kind's write
      api.advance(ofSeconds(1));
      assertThat(watch.line()).contains("BOOKMARK",
          "\"resourceVersion\":\"" + api.store().revision() + "\"");
      api.advance(ofSeconds(40));
      assertThat(watch.end()).isEqualTo(RawClient.End.COMPLETE);
    }
  }

  @Test
  @DisplayName("a read of the future fails after three seconds of the server's time")
  void movesTheClockOfARead() {
    long future = api.store().revision() + 5;
    try (var list = RawClient.get(api.port(), PATH + "?resourceVersion=" + future)) {
      await().until(() -> {
        api.advance(ofSeconds(3));
        return !list.silent();
      });
      assertThat(list.head()).startsWith("HTTP/1.1 504 ");
    }
  }

  @Test
  @DisplayName("with the clock at rest, a feed that lags brings nothing")
  void keepsTheClockAtRest() {
    api.disruptions().delay(ofMillis(1), CONFIG_MAP);
    try (var watch = RawClient.get(api.port(),
        PATH + "?watch=1&resourceVersion=" + api.store().revision())) {
      watch.head();
      api.store().create(CONFIG_MAP, named("a"));
      api.store().create(ENDPOINTS, named("e"));
      api.advance(ofMillis(0));
      assertThat(watch.silent()).isTrue();
      api.advance(ofMillis(1));
      assertThat(watch.line()).contains("\"name\":\"a\"");
    }
  }
}
