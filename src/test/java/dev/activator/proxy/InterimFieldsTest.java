package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.testing.RawHttp2;
import org.junit.jupiter.api.Test;

/** Fields of 1xx responses that are not for the caller: RFC 9110, sections 7.6.1 and 8.6. */
class InterimFieldsTest extends WireTest {
  private static final String EARLY = "HTTP/1.1 103 Early Hints\r\nLink: a\r\nContent-Length: 0\r\n"
      + "Connection: x-hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n\r\n"
      + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  @Test
  void areRemovedInHttp1() throws Exception {
    pod(EARLY);
    try (var caller = activator.get("/")) {
      assertThat(caller.readHead().lines()).containsExactly("Link: a");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
  }

  /** Clients with nghttp2, such as curl, reset a stream if a 1xx has a length. */
  @Test
  void areRemovedInHttp2() throws Exception {
    activator.container(ReadinessProbeSpec.CONNECT, 0);
    pod(EARLY);
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, ":method", "GET", ":scheme", "http", ":path", "/", ":authority", "x",
          "knative-serving-namespace", "default", "knative-serving-revision", "hello-00001");
      assertThat(caller.read().fields()).containsExactly(":status: 103", "link: a");
      assertThat(caller.response(1)).isEqualTo("200 ok");
    }
  }

  @Test
  void areRemovedFromA101() throws Exception {
    pod(pod -> {
      pod.readHead();
      pod.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n"
          + "Content-Length: 0\r\nTrailer: t\r\n\r\n");
      pod.awaitEnd();
    });
    try (var caller = activator.get("/", "Connection: Upgrade", "Upgrade: x")) {
      assertThat(caller.readHead().lines()).containsExactly("Connection: Upgrade", "Upgrade: x");
      caller.reset();
    }
  }
}
