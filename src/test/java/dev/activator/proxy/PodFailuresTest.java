package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.testing.FullPod;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What callers see when a pod does not answer, or stops. */
class PodFailuresTest extends WireTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  @Test
  @DisplayName("says that the pod refused")
  void saysThatThePodRefused() throws Exception {
    activator.throttle.grow(ScriptedPod.nobody(), 1);
    try (var caller = activator.connect()) {
      for (int i = 0; i < 2; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        assertThat(response(caller)).isEqualTo("502 connection refused\n");
      }
    }
  }

  @Test
  void saysThatThePodEndedTheConnectionBeforeItAnswered() throws Exception {
    pod(caller -> caller.readHead());
    try (var caller = activator.get("/")) {
      assertThat(response(caller))
          .isEqualTo("502 connection closed before the response ended\n");
    }
  }

  @Test
  void saysThatThePodEndedTheConnectionWithinTheHeader() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nContent-Le");
    });
    try (var caller = activator.get("/")) {
      assertThat(response(caller))
          .isEqualTo("502 connection closed before the response ended\n");
    }
  }

  @Test
  void saysThatThePodReset() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.reset();
    });
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo("502 connection reset\n");
    }
  }

  @Test
  void saysThatTheResponseIsMalformed() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send("SMTP ready\r\n\r\n");
      caller.awaitEnd();
    });
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo("502 malformed response\n");
    }
  }

  @Test
  @DisplayName("breaks off a response with a length where the pod does")
  void breaksOffAResponseWithALength() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    });
    try (var caller = activator.get("/")) {
      caller.readHead();
      assertThat(caller.readToEnd()).isEqualTo("half");
    }
  }

  @Test
  @DisplayName("breaks off a response in chunks where the pod does")
  void breaksOffAResponseInChunks() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n");
    });
    try (var caller = activator.get("/")) {
      caller.readHead();
      assertThat(caller.readToEnd()).isEqualTo("4\r\nhalf\r\n");
    }
  }

  @Test
  void breaksOffAResponseThatEndsWithTheConnectionByAReset() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n");
      seen.poll();
    });
    try (var caller = activator.connect()) {
      caller.send("GET / HTTP/1.0\r\n" + String.join("\r\n", Activator.TO_HELLO) + "\r\n\r\n");
      assertThatThrownBy(() -> {
        caller.readHead();
        caller.readToEnd();
      }).isInstanceOf(IOException.class);
    }
  }

  /** A pod that answers without a length, and resets the connection once the caller has read that. */
  private void podThatResets(CountDownLatch read) throws IOException {
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\n\r\npartial");
      try {
        read.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      caller.reset();
    });
  }

  @Test
  void breaksOffAResponseWithoutLength_whenThePodResetsTheConnection() throws Exception {
    var read = new CountDownLatch(1);
    podThatResets(read);
    try (var caller = activator.get("/")) {
      caller.readHead();
      assertThat(caller.readChunk()).isEqualTo("partial");
      read.countDown();
      assertThat(caller.readToEnd()).as("no last chunk").isEmpty();
    }
  }

  @Test
  void resetsACallerOfHttp10_whenThePodResetsTheConnectionWithinAResponseWithoutLength()
      throws Exception {
    var read = new CountDownLatch(1);
    podThatResets(read);
    try (var caller = activator.connect()) {
      caller.send("GET / HTTP/1.0\r\n" + String.join("\r\n", Activator.TO_HELLO) + "\r\n\r\n");
      caller.readHead();
      assertThat(caller.read(7)).isEqualTo("partial");
      read.countDown();
      assertThatThrownBy(caller::readToEnd).isInstanceOf(IOException.class);
    }
  }

  @Test
  void completesAResponseWithoutLength_whenThePodClosesAndTheRequestIsNotSentYet()
      throws Exception {
    // given a pod that answers at once, closes its side, and then reads what comes
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 413 Content Too Large\r\n\r\ntoo large");
      caller.endOutput();
      caller.awaitEnd();
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 100000");
      caller.send("begin");
      var head = caller.readHead();
      assertThat(caller.readBody(head)).isEqualTo("too large");
    }
  }

  @Test
  void triesAgainOnANewConnectionWhereThePooledOneWasDead() throws Exception {
    // A pod that ends each connection after one response, and does not say so.
    var pod = pod(caller -> {
      caller.readHead();
      caller.send(OK);
    });
    try (var caller = activator.connect()) {
      for (int i = 0; i < 50; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        assertThat(response(caller)).isEqualTo("200 ok");
      }
      for (int i = 0; i < 50; i++) {
        eventually(() -> assertThat(activator.throttle.inFlight()).isZero());
        Activator.request(caller, "GET / HTTP/1.1", "X: y");
        assertThat(response(caller)).isEqualTo("200 ok");
      }
    }
    eventually(() -> assertThat(pod.connections()).isEqualTo(100));
  }

  @Test
  void triesAgainWhereThePodEndsThePooledConnectionInsteadOfAnswering() throws Exception {
    // The second request of a connection is read and not answered.
    var pod = pod(caller -> {
      caller.readHead();
      caller.send(OK);
      seen.add(caller.readHead());
    });
    try (var caller = activator.connect()) {
      for (int i = 0; i < 20; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        assertThat(response(caller)).isEqualTo("200 ok");
      }
    }
    // One answer a connection: each second request was asked again.
    eventually(() -> assertThat(pod.connections()).isEqualTo(20));
  }

  @Test
  void answers502WithoutARetry_whenThePodEndsAPooledConnectionDuringAPost() throws Exception {
    var pod = pod(caller -> {
      caller.readHead();
      caller.send(OK);
      seen.add(caller.readHead());
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 0");
      assertThat(response(caller)).isEqualTo("200 ok");
      Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 0");
      assertThat(response(caller)).startsWith("502 ");
    }
    seen();
    eventually(() -> assertThat(pod.connections()).isEqualTo(1));
  }

  @Test
  void closesTheConnection_whenThePodSendsASecondResponse() throws Exception {
    var pod = pod(caller -> {
      caller.readHead();
      caller.send(OK + OK);
      caller.awaitEnd();
    });
    try (var caller = activator.connect()) {
      for (int i = 0; i < 5; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        assertThat(response(caller)).isEqualTo("200 ok");
      }
    }
    eventually(() -> assertThat(pod.connections()).isEqualTo(5));
  }

  @Test
  @DisplayName("stops connecting when the caller is gone")
  void stopsConnectingWhenTheCallerIsGone() throws Exception {
    try (var full = new FullPod()) {
      activator.throttle.grow(full.destination(), 1);
      var caller = activator.get("/");
      eventually(() -> assertThat(activator.throttle.inFlight()).isEqualTo(1));

      caller.close();

      awaitIdle();
    }
  }

  @Test
  @DisplayName("ends the connection to the pod when the caller is gone")
  void endsTheConnectionToThePodWhenTheCallerIsGone() throws Exception {
    pod(caller -> {
      seen.add(caller.readHead());
      caller.awaitEnd();
      seen.add(new RawPeer.Head("ended", List.of()));
    });
    var waiting = activator.get("/");
    seen();
    waiting.close();
    assertThat(seen().start()).isEqualTo("ended");
  }

  @Test
  @DisplayName("ends the connection to the pod when the caller is gone within the response")
  void endsTheConnectionToThePodWhenTheCallerIsGoneWithinTheResponse() throws Exception {
    pod(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n");
      caller.awaitEnd();
      seen.add(new RawPeer.Head("ended", List.of()));
    });
    var streaming = activator.get("/");
    streaming.readHead();
    assertThat(streaming.readChunk()).isEqualTo("half");
    streaming.close();
    assertThat(seen().start()).isEqualTo("ended");
  }

  @Test
  void passesOnTheErrorsOfThePod() throws Exception {
    pod("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nfull");
    try (var caller = activator.get("/")) {
      assertThat(response(caller)).isEqualTo("503 full");
    }
  }
}
