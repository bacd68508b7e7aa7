package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.activator.testing.KernelConnections;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Requests on pooled connections that their pods end at that very moment: after it is known that they
 * live, as far as that can be known.
 */
class StaleConnectionTest extends WireTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final String CHUNKED = "Transfer-Encoding: chunked";

  private final CountDownLatch end = new CountDownLatch(1);
  private final BlockingQueue<String> bodies = new LinkedBlockingQueue<>();
  private volatile int kept;

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.slow();
  }

  /** One that does not ask the kernel whether a connection lives, so that it never knows in time. */
  @Override
  IoHandlerFactory io() {
    return NioIoHandler.newFactory();
  }

  @BeforeEach
  void needsToKnow() {
    assumeTrue(KernelConnections.areKnown(), "the kernel cannot be asked here");
  }

  /** From here on: the first connection is reset, and its end is known, before a request is sent. */
  private void resetBeforeTheNext(int podPort) {
    activator.requests.whenForwarding = () -> {
      end.countDown();
      eventually(
          () -> assertThat(KernelConnections.isEstablished(kept, podPort)).isFalse());
    };
  }

  private void resetWhenTold(RawPeer caller) throws IOException {
    try {
      assertThat(end.await(120, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException stopped) {
      throw new IOException(stopped);
    }
    caller.reset();
  }

  @ParameterizedTest(name = "{0} {1}: {2}")
  @CsvSource({"GET, X: y, ''", "POST, Content-Length: 0, ''", "POST, Content-Length: 5, hello",
      "PATCH, Transfer-Encoding: chunked, hello", "DELETE, Content-Length: 0, ''"})
  void sendsARequestOfWhichNothingWasWrittenOnAnotherConnection(String method, String header,
      String body) throws Exception {
    // given a pod with a kept connection
    var pod = pod(caller -> {
      bodies.add(caller.readBody(caller.readHead()));
      if (kept == 0) {
        kept = caller.socket().getPort();
        caller.send(OK);
        resetWhenTold(caller);
      } else {
        caller.send(OK);
      }
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(next(bodies)).isEmpty();

      // when the pod resets it between the check and the first byte
      resetBeforeTheNext(pod.destination().port());
      Activator.request(caller, method + " / HTTP/1.1", header);
      caller.send(header.equals(CHUNKED) ? "5\r\nhello\r\n0\r\n\r\n" : body);

      // then the pod gets the request whole, once, on another
      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(next(bodies)).isEqualTo(body);
      assertThat(bodies).isEmpty();
      eventually(() -> assertThat(pod.connections()).isEqualTo(2));
      assertThat(activator.throttle.retried()).isZero();
    }
  }

  @Test
  void requestsTheBodyOnAnotherConnection_ifItWasNotRequestedOnTheFirst() throws Exception {
    var pod = pod(caller -> {
      var head = caller.readHead();
      if (kept == 0) {
        kept = caller.socket().getPort();
        caller.send(OK);
        resetWhenTold(caller);
      } else {
        caller.send("HTTP/1.1 100 Continue\r\n\r\n");
        bodies.add(caller.readBody(head));
        caller.send(OK);
      }
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");

      // when a request is sent again whose caller waits to be told to go on
      resetBeforeTheNext(pod.destination().port());
      Activator.request(caller, "POST / HTTP/1.1", "Expect: 100-continue", "Content-Length: 5");

      // then it is told so, and the pod gets the body
      assertThat(caller.readHead().start()).startsWith("HTTP/1.1 100 ");
      caller.send("hello");
      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(bodies).containsExactly("hello");
    }
  }

  @Test
  void sendsAStreamOfWhichNothingWasWrittenOnAnotherConnection() throws Exception {
    var pod = pod(caller -> {
      var http2 = RawHttp2.pod(caller);
      var body = new StringBuilder();
      while (true) {
        var frame = http2.read();
        body.append(frame.type() == RawHttp2.DATA ? frame.text() : "");
        if (frame.ends()) {
          bodies.add(body.toString());
          http2.headers(frame.stream(), true, ":status", "204");
          if (kept == 0) {
            kept = caller.socket().getPort();
            resetWhenTold(caller);
          }
        }
      }
    });
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, head("GET"));
      assertThat(caller.response(1)).isEqualTo("204 ");
      assertThat(next(bodies)).isEmpty();

      resetBeforeTheNext(pod.destination().port());
      caller.headers(3, false, head("POST"));
      caller.data(3, true, "hello");

      assertThat(caller.response(3)).isEqualTo("204 ");
      assertThat(next(bodies)).isEqualTo("hello");
      assertThat(bodies).isEmpty();
    }
  }

  private static String[] head(String method) {
    return new String[]{":method", method, ":scheme", "http", ":path", "/", ":authority",
        "hello.example", "knative-serving-namespace", "default", "knative-serving-revision",
        "hello-00001"};
  }

  @ParameterizedTest(name = "{0} {1} {2}: {4}")
  @CsvSource({"GET, X: y, X: y, '', 200", "HEAD, X: y, X: y, '', 200",
      "GET, Content-Length: 5, X: y, hello, 200",
      "POST, Content-Length: 0, Idempotency-Key: 1, '', 200",
      "POST, Content-Length: 5, X-Idempotency-Key: 1, hello, 200",
      "POST, Content-Length: 0, X: y, '', 502", "POST, Content-Length: 5, X: y, hello, 502",
      "PUT, Content-Length: 5, X: y, hello, 502", "DELETE, Content-Length: 0, X: y, '', 502"})
  void sendsWhatThePodMayHaveActedOnAgainOnlyIfItMayBeDoneTwice(String method, String header,
      String other, String body, String status) throws Exception {
    // given a pod that ends its first connection instead of answering a second request
    pod(caller -> {
      bodies.add(caller.readBody(caller.readHead()));
      caller.send(OK);
      if (kept == 0) {
        kept = caller.socket().getPort();
        caller.readBody(caller.readHead());
      }
    });
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(next(bodies)).isEmpty();

      Activator.request(caller, method + " / HTTP/1.1", header, other);
      caller.send(body);

      assertThat(caller.readHead().start()).startsWith("HTTP/1.1 " + status);
      if (status.equals("200")) {
        assertThat(next(bodies)).isEqualTo(body);
      } else {
        assertThat(bodies).isEmpty();
      }
    }
  }
}
