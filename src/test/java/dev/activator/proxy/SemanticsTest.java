package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.SocketException;
import org.junit.jupiter.api.Test;

/** HTTP/1 as its oddities are: no bodies, old callers, interim responses, bodies held back. */
class SemanticsTest extends WireTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  @Test
  void servesAMethodThatBeginsAsHttp2Does() throws Exception {
    pod("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    try (var caller = activator.connect()) {
      Activator.request(caller, "PRINT / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
    assertThat(seen().start()).isEqualTo("PRINT / HTTP/1.1");
  }

  @Test
  void sendsHostBeforeAllOtherFields() throws Exception {
    pod(OK);
    try (var caller = activator.get("/", "X-A: 1", "Accept: */*")) {
      assertThat(response(caller)).isEqualTo("200 ok");
    }
    assertThat(seen().lines().getFirst()).startsWith("Host: ");
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.0", "X-A: 1");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
    assertThat(seen().lines().getFirst()).startsWith("Host: ");
  }

  @Test
  void passesOnTheHeadersOfAHeadWithoutABody() throws Exception {
    var pod = pod("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    try (var caller = activator.connect()) {
      for (int i = 0; i < 3; i++) {
        Activator.request(caller, "HEAD / HTTP/1.1");
        assertThat(caller.readHead().header("Content-Length")).isEqualTo("5");
      }
      Activator.request(caller, "HEAD / HTTP/1.1", "K-Network-Probe: activator");
      assertThat(caller.readHead().header("Content-Length")).isEqualTo("9");
      Activator.request(caller, "HEAD / HTTP/1.1");
      assertThat(caller.readHead().header("Content-Length")).isEqualTo("5");
    }
    eventually(() -> assertThat(pod.connections()).isEqualTo(1));
  }

  @Test
  void knowsResponsesThatHaveNoBody() throws Exception {
    for (String status : new String[]{"204 No Content", "304 Not Modified"}) {
      var pod = pod("HTTP/1.1 " + status + "\r\nETag: x\r\n\r\n");
      try (var caller = activator.connect()) {
        for (int i = 0; i < 2; i++) {
          Activator.request(caller, "GET / HTTP/1.1");
          var head = caller.readHead();
          assertThat(head.start()).isEqualTo("HTTP/1.1 " + status);
          assertThat(head.header("Transfer-Encoding")).isNull();
        }
      }
      eventually(() -> assertThat(pod.connections()).isEqualTo(1));
    }
  }

  @Test
  void endsTheConnection_whenTheCallerRequestsIt() throws Exception {
    pod(OK);
    try (var caller = activator.get("/", "Connection: close")) {
      var head = caller.readHead();
      assertThat(head.header("Connection")).isEqualTo("close");
      assertThat(caller.readToEnd()).isEqualTo("ok");
    }
    assertThat(seen().header("Connection")).isNull();
  }

  @Test
  void keepsTheConnectionWhereOnlyThePodEndsIts() throws Exception {
    var pod = pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
      caller.awaitEnd();
    });
    try (var caller = activator.connect()) {
      for (int i = 0; i < 3; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        var head = caller.readHead();
        assertThat(head.header("Connection")).isNull();
        assertThat(caller.readBody(head)).isEqualTo("ok");
      }
    }
    eventually(() -> assertThat(pod.connections()).isEqualTo(3));
  }

  @Test
  void putsIntoChunksWhatEndsWithThePodsConnection() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.0 200 OK\r\n\r\nall of it");
    });
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        assertThat(response(caller)).isEqualTo("200 all of it");
      }
    }
  }

  @Test
  void servesCallersThatSpeakAnOldVersion() throws Exception {
    pod("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n");
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.0", "Connection: keep-alive");
      var head = caller.readHead();
      assertThat(head.start()).isEqualTo("HTTP/1.0 200 OK");
      assertThat(head.header("Transfer-Encoding")).isNull();
      assertThat(head.header("Connection")).isEqualTo("close");
      assertThat(caller.readToEnd()).isEqualTo("ok");
    }
    assertThat(seen().start()).isEqualTo("GET / HTTP/1.1");
  }

  @Test
  void keepsTheConnectionOfAnOldCaller_whenItRequestsThat() throws Exception {
    pod(OK);
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        Activator.request(caller, "GET / HTTP/1.0", "Connection: keep-alive");
        var head = caller.readHead();
        assertThat(head.start()).isEqualTo("HTTP/1.0 200 OK");
        assertThat(head.header("Connection")).isEqualTo("keep-alive");
        assertThat(caller.readBody(head)).isEqualTo("ok");
      }
      Activator.request(caller, "GET / HTTP/1.0");
      assertThat(caller.readHead().header("Connection")).isEqualTo("close");
      assertThat(caller.readToEnd()).isEqualTo("ok");
    }
  }

  /** Found by {@code HostilePeersTest}. */
  @Test
  void resetsConnection_whenOldCallerEndsItsOutputWithinABodyThatEndsWithTheConnection()
      throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n");
      caller.awaitEnd();
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.0");
      caller.readHead();
      assertThat(caller.read(4)).isEqualTo("half");

      caller.endOutput();

      assertThatThrownBy(caller::readToEnd).isInstanceOf(SocketException.class);
    }
  }

  @Test
  void passesOnInterimResponses() throws Exception {
    pod("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + OK);
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        var hints = caller.readHead();
        assertThat(hints.start()).isEqualTo("HTTP/1.1 103 Early Hints");
        assertThat(hints.header("Link")).isEqualTo("</a>");
        assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 102 Processing");
        assertThat(response(caller)).isEqualTo("200 ok");
      }
      Activator.request(caller, "GET / HTTP/1.0");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
  }

  @Test
  void holdsABodyBackUntilThePodWantsIt() throws Exception {
    pod(caller -> {
      var head = caller.readHead();
      seen.add(head);
      caller.send("HTTP/1.1 100 Continue\r\n\r\n");
      caller.readBody(head);
      caller.send(OK);
      caller.awaitEnd();
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 3", "Expect: 100-continue");
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 100 Continue");
      caller.send("abc");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
    assertThat(seen().header("Expect")).isEqualTo("100-continue");
  }

  @Test
  void keepsABodyFromAPodThatDoesNotWantIt() throws Exception {
    startWith(Activator.Settings.DEFAULT.slow());
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
      caller.awaitEnd();
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 3", "Expect: 100-continue");
      var head = caller.readHead();
      assertThat(head.start()).isEqualTo("HTTP/1.1 413 Content Too Large");
      // Whether the caller sends its body now is not known.
      assertThat(head.header("Connection")).isEqualTo("close");
      caller.awaitEnd();
    }
  }

  @Test
  void requestsABodyThatThePodSaysNothingAbout() throws Exception {
    pod(caller -> {
      while (true) {
        caller.readBody(caller.readHead());
        caller.send(OK);
      }
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 3", "Expect: 100-continue");
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 100 Continue");
      caller.send("abc");
      assertThat(response(caller)).isEqualTo("200 ok");

      // A caller that does not wait needs no 100.
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 3", "Expect: 100-continue");
      caller.send("abc");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
  }

  @Test
  void passesOnAResponseThatComesBeforeTheBodyHasEnded() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno");
      caller.awaitEnd();
    });
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 6");
        caller.send("abc");
        assertThat(response(caller)).isEqualTo("401 no");
        caller.send("def");
      }
    }
  }

  @Test
  void passesOnTheReasonAndOddHeadersAsTheyAre() throws Exception {
    pod("HTTP/1.1 299 Odd But True\r\nX-A: 1\r\nx-a: 2\r\nX-L: \u00e4\r\nServer: s\r\n"
        + "Content-Length: 0\r\n\r\n");
    try (var caller = activator.get("/")) {
      var head = caller.readHead();
      assertThat(head.start()).isEqualTo("HTTP/1.1 299 Odd But True");
      assertThat(head.lines()).containsExactly("X-A: 1", "x-a: 2", "X-L: \u00e4", "Server: s",
          "Content-Length: 0");
    }
  }

  @Test
  void doesNotSwitchProtocols_withoutARequest() throws Exception {
    pod("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).startsWith("502 ");
    }
  }
}
