package dev.activator.testing.faults;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.testing.faults.Verb.LIST;
import static dev.activator.testing.faults.Verb.WATCH;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.store.Restart;
import dev.activator.testing.EmbeddedApi;
import java.util.ArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What clients see when the server stops. */
class StopWireTest {
  private static final String PATH = "/api/v1/namespaces/default/configmaps";

  @AutoClose
  private final EmbeddedApi api = EmbeddedApi.start();

  @Test
  @DisplayName("every watch ends cleanly, those on WebSockets with code 1000")
  void endsWatchesCleanly() {
    var watches = new ArrayList<RawClient>();
    for (int i = 0; i < 20; i++) {
      watches.add(RawClient.get(api.port(), PATH + "?watch=1"));
      watches.getLast().head();
    }
    try (var socket = RawClient.webSocket(api.port(), PATH + "?watch=1")) {
      socket.head();

      api.close();

      for (var watch : watches) {
        assertThat(watch.end()).isEqualTo(RawClient.End.COMPLETE);
        watch.close();
      }
      assertThat(socket.frame()).isEqualTo("close 1000");
    }
  }

  @Test
  @DisplayName("a connection that is kept alive is closed, so that no request is lost on it")
  void closesIdleConnections() {
    try (var kept = RawClient.get(api.port(), "/readyz")) {
      assertThat(kept.head()).startsWith("HTTP/1.1 200 ");
      assertThat(kept.bytes(2)).isEqualTo("ok");

      api.close();

      assertThat(kept.all()).isEmpty();
      assertThat(kept.end()).isEqualTo(RawClient.End.CUT);
    }
  }

  @Test
  @DisplayName("a request that is under way is answered")
  void answersWhatIsUnderWay() {
    api.store().create(CONFIG_MAP, named("a"));
    var rule = api.faults().once(Match.requests(LIST),
        new Fault.LateAnswer(Pause.of(ofMillis(200))));

    try (var client = RawClient.get(api.port(), PATH)) {
      rule.awaitFired(1, ofSeconds(120));
      api.close();
      assertThat(client.head()).startsWith("HTTP/1.1 200 ");
      assertThat(client.all()).contains("\"name\":\"a\"");
    }
  }

  @Test
  void clientsThatComeBackAfterARestartAreServed() {
    int port = api.port();
    for (int i = 0; i < 3; i++) {
      try (var watch = RawClient.get(port, PATH + "?watch=1")) {
        assertThat(watch.head()).startsWith("HTTP/1.1 200 ");
        api.restart(Restart.SAME_DATA);
        assertThat(watch.end()).isEqualTo(RawClient.End.COMPLETE);
      }
    }
    assertThat(api.faults().journal().calls(Match.requests(WATCH))).hasSize(3);
  }
}
