package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.ExtendedSSLSession;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests over TLS: what pods get, in which version of HTTP, and on which connections. */
class TlsToPodsTest extends SecuredTest {
  @Test
  void callsThePodByItsAddressAndVerifiesTheNameOfAllPods() throws Exception {
    BlockingQueue<String> asked = new LinkedBlockingQueue<>();
    var pod = secured(caller -> {
      seen.add(caller.readHead());
      var session = (ExtendedSSLSession) caller.tls().getSession();
      asked.add(session.getProtocol() + " " + session.getRequestedServerNames());
      caller.send(OK);
    });

    assertThat(answer()).isEqualTo("200 ok");

    assertThat(next(asked)).startsWith("TLSv1.3 ").contains("value=data-plane.knative.dev");
    var head = seen();
    assertThat(head.header("Host")).isEqualTo(pod.destination().toString());
    assertThat(head.header("K-Original-Host")).isEqualTo("hello.example");
  }

  @Test
  @DisplayName("takes away over TLS what is for one connection, and keeps the rest")
  void takesAwayWhatIsForOneConnection() throws Exception {
    ok();
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1", "Connection: x-a", "X-A: 1", "X-B: 2");
      assertThat(response(caller)).isEqualTo("200 ok");
      Activator.request(caller, "GET / HTTP/1.1", "User-Agent: curl/8");
      assertThat(response(caller)).isEqualTo("200 ok");
    }
    var bare = seen();
    assertThat(bare.header("X-A")).isNull();
    assertThat(bare.header("X-B")).isEqualTo("2");
    assertThat(bare.header("User-Agent")).isNull();
    assertThat(bare.header("Knative-Serving-Revision")).isNull();
    assertThat(seen().header("User-Agent")).isEqualTo("curl/8");
  }

  @Test
  @DisplayName("sends it to the Service over TLS where a mesh needs it")
  void addressesTheServiceWhereAMeshNeedsIt() throws Exception {
    service = Activator.HELLO.name() + "-private." + Activator.HELLO.namespace();
    ok();

    assertThat(answer()).isEqualTo("200 ok");

    var head = seen();
    assertThat(head.header("Host")).isEqualTo("hello-00001-private.default");
    assertThat(head.header("K-Passthrough-Lb")).isEqualTo("true");
  }

  @Test
  void keepsTheConnectionForTheNextRequest() throws Exception {
    ok();
    try (var caller = activator.connect()) {
      for (int i = 0; i < 10; i++) {
        Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 3");
        caller.send("abc");
        assertThat(response(caller)).isEqualTo("200 ok");
      }
    }
    assertThat(used).hasValue(1);
  }

  @Test
  void reportsWhichPortARequestWentTo() throws Exception {
    var plain = new Destination("127.0.0.1", 8012);
    var pod = closing(ScriptedPod.overTls(shown::get, caller -> {
      caller.readHead();
      caller.send(OK);
    }));
    moved.put(plain, pod.destination());
    activator.throttle.grow(plain, 1);

    assertThat(answer()).isEqualTo("200 ok");

    var received = next(activator.requests.ended).request();
    assertThat(received.podSecure()).isTrue();
    assertThat(received.destination()).isEqualTo(pod.destination());
  }

  @Test
  void goesToAnotherPod_whenOneNeverAnswersTheHandshake() throws Exception {
    // given a pod that accepts connections, and says nothing
    var connections = new AtomicInteger();
    var silent = closing(new ScriptedPod(caller -> {
      connections.incrementAndGet();
      caller.awaitEnd();
    }));
    var good = ok();
    activator.throttle.grow(silent.destination(), 1);
    activator.throttle.retriesGoTo(good.destination());

    // when a request comes, then it does not connect to that pod again and again
    assertThat(answer()).isEqualTo("200 ok");
    assertThat(connections).hasValue(1);
  }

  @Test
  void doesNotTakeACutConnectionForTheEndOfAResponse() throws Exception {
    secured(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\n\r\nonly half of i");
      caller.cut();
    });
    try (var caller = activator.get("/")) {
      caller.readHead();
      assertThat(caller.readChunk()).isEqualTo("only half of i");
      // No last chunk.
      assertThat(caller.readToEnd()).isEmpty();
    }
  }

  @Test
  void takesAnOrderlyEndForTheEndOfAResponse() throws Exception {
    secured(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 200 OK\r\n\r\nall of it");
    });
    assertThat(answer()).isEqualTo("200 all of it");
  }

  @Test
  void triesAgainWhereThePooledConnectionWasDead() throws Exception {
    secured(caller -> {
      caller.readHead();
      used.incrementAndGet();
      caller.send(OK);
    });
    try (var caller = activator.connect()) {
      for (int i = 0; i < 10; i++) {
        Activator.request(caller, "GET / HTTP/1.1");
        assertThat(response(caller)).isEqualTo("200 ok");
      }
    }
    assertThat(used).hasValue(10);
  }

  @Test
  void carriesAWebSocket() throws Exception {
    secured(caller -> {
      caller.readHead();
      caller.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
          + "Upgrade: websocket\r\n\r\nwelcome!");
      while (true) {
        caller.send(caller.read(8));
      }
    });
    try (var caller = activator.get("/", "Connection: Upgrade", "Upgrade: websocket")) {
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 101 Switching Protocols");
      assertThat(caller.read(8)).isEqualTo("welcome!");
      for (int i = 0; i < 20; i++) {
        caller.send("\0\u00ff" + i % 10 + "\r\n\r\n!");
        assertThat(caller.read(8)).isEqualTo("\0\u00ff" + i % 10 + "\r\n\r\n!");
      }
    }
  }

  @ParameterizedTest(name = "the pod knows of {0}")
  @ValueSource(strings = {"h2", "h2 http/1.1", "no such question"})
  void sendsInHttp2WhatItReceivedInHttp2(String protocols) throws Exception {
    Queue<String> asked = new ConcurrentLinkedQueue<>();
    secured(caller -> {
      var http2 = RawHttp2.pod(caller);
      String protocol = caller.tls().getApplicationProtocol();
      for (var frame = http2.read(); true; frame = http2.read()) {
        // A first dial is given up, before any request, if its handshake takes too long.
        if (frame.type() == RawHttp2.HEADERS) {
          asked.add(protocol + " by connection " + Integer.toHexString(http2.hashCode()) + " for "
              + frame.field(":scheme"));
          http2.headers(frame.stream(), false, ":status", "200");
          http2.data(frame.stream(), true, "ok");
        }
      }
    }, protocols.startsWith("h2") ? protocols.split(" ") : new String[0]);
    try (var caller = RawHttp2.caller(activator.connect())) {
      for (int stream = 1; stream < 10; stream += 2) {
        caller.headers(stream, true, HEAD);
        assertThat(caller.response(stream)).isEqualTo("200 ok");
      }
    }
    assertThat(asked).hasSize(5);
    assertThat(Set.copyOf(asked)).singleElement(STRING)
        .startsWith((protocols.startsWith("h2") ? "h2" : "") + " by ").endsWith(" for https");
  }

  @Test
  void failsInHttp2_whenThePodSpeaksOnlyHttp1() throws Exception {
    secured(RawPeer::readHead, "http/1.1");
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, HEAD);
      assertThat(caller.response(1)).isEqualTo("502 the pod does not speak HTTP/2\n");
    }
  }

  @Test
  void offersNoAlpn_whenTheRequestIsHttp1() throws Exception {
    BlockingQueue<String> chosen = new LinkedBlockingQueue<>();
    secured(caller -> {
      caller.readHead();
      chosen.add(caller.tls().getApplicationProtocol());
      caller.send(OK);
    }, "h2", "http/1.1");
    assertThat(answer()).isEqualTo("200 ok");
    assertThat(next(chosen)).isEmpty();
  }
}
