package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.policy.HostRule;
import dev.activator.proxy.route.Addressing;
import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Authority;
import dev.activator.testing.Certificate;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import dev.activator.upstream.tls.PodTls;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests over TLS, whom of the pods they believe, and what becomes of them if they do not. */
class TlsToPodsTest extends WireTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final String NAME = PodTls.SERVER_NAME;
  private static final String[] HEAD = {":method", "GET", ":scheme", "http", ":path", "/",
      ":authority", "hello.example", "knative-serving-namespace", "default",
      "knative-serving-revision", "hello-00001"};

  /** Where pods take TLS, if it is on another port than without. */
  private final Map<Destination, Destination> moved = new ConcurrentHashMap<>();
  private final PodTls tls = new PodTls(pod -> moved.getOrDefault(pod, pod));
  private final AtomicReference<SSLContext> shown = new AtomicReference<>();
  /** Connections on which something was asked; an attempt that took too long is none. */
  private final AtomicInteger used = new AtomicInteger();
  private Authority authority;

  private volatile Addressing addressing = new Addressing.ByPod();

  @Override
  ProxySettings settings() {
    return Activator.settings(HostRule.NONE, new Addressing.Live(() -> addressing),
        Duration.ofSeconds(60));
  }

  @Override
  PodTls tls() {
    return tls;
  }

  @BeforeEach
  void trust() throws Exception {
    authority = Authority.named("one");
    tls.trust(List.of(authority.certificate()));
    tls.require();
    show(authority.issue("kn-user-default", NAME));
  }

  private void show(Certificate certificate) throws GeneralSecurityException, IOException {
    shown.set(certificate.serve());
  }

  /** A pod over TLS, and permits for it. */
  private ScriptedPod secured(ScriptedPod.Script script, String... protocols) throws IOException {
    var pod = closing(ScriptedPod.overTls(shown::get, script, protocols));
    activator.throttle.grow(pod.destination(), 100);
    return pod;
  }

  private ScriptedPod ok() throws IOException {
    return secured(caller -> {
      for (int i = 0;; i++) {
        var head = caller.readHead();
        used.addAndGet(i == 0 ? 1 : 0);
        caller.readBody(head);
        seen.add(head);
        caller.send(OK);
      }
    });
  }

  private String answer() throws IOException {
    try (var caller = activator.get("/")) {
      return response(caller);
    }
  }

  @Test
  void asksThePodByItsAddressAndForTheNameOfAllPods() throws Exception {
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
  @DisplayName("AH-14 AH-15 takes away over TLS what is for one connection, and keeps the rest")
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
  @DisplayName("AH-16 asks over TLS for the Service where a mesh needs it")
  void asksForTheServiceWhereAMeshNeedsIt() throws Exception {
    addressing = new Addressing.ByService(id -> id.name() + "-private." + id.namespace());
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
  @DisplayName("TL-04 refuses a pod whose certificate does not name the namespace, and sends it nothing")
  void refusesAPodOfAnotherNamespace() throws Exception {
    show(authority.issue(NAME, "kn-user-other"));
    ok();

    assertThat(answer()).isEqualTo("502 the pod's certificate is not trusted\n");
    assertThat(seen).isEmpty();
  }

  @Test
  @DisplayName("TL-04 takes the name of the namespace at any place of the certificate")
  void takesTheNamespaceAtAnyPlace() throws Exception {
    ok();
    assertThat(answer()).isEqualTo("200 ok");
    show(authority.issue(NAME, "some.thing", "kn-user-default"));
    ok();
    assertThat(answer()).isEqualTo("200 ok");
  }

  @Test
  void believesAPodThatShowsMoreThanItsChain() throws Exception {
    shown.set(authority.issue("kn-user-default", NAME)
        .serve(Authority.named("two").certificate()));
    ok();
    assertThat(answer()).isEqualTo("200 ok");
  }

  @Test
  void believesAPodWhoseChainIsAmongOthers() throws Exception {
    var between = authority.vouchFor("between");
    shown.set(between.issue("kn-user-default", NAME)
        .serve(Authority.named("two").certificate(), between.certificate()));
    ok();
    assertThat(answer()).isEqualTo("200 ok");
  }

  @Test
  void refusesAPodThatShowsATrustedAuthorityThatDidNotVouchForIt() throws Exception {
    shown.set(Authority.named("one").issue("kn-user-default", NAME)
        .serve(authority.certificate()));
    ok();
    assertThat(answer()).isEqualTo("502 the pod's certificate is not trusted\n");
  }

  @Test
  void tellsWhichPortARequestWentTo() throws Exception {
    var plain = new Destination("127.0.0.1", 8012);
    var pod = closing(ScriptedPod.overTls(shown::get, caller -> {
      caller.readHead();
      caller.send(OK);
    }));
    moved.put(plain, pod.destination());
    activator.throttle.grow(plain, 1);

    assertThat(answer()).isEqualTo("200 ok");

    var told = next(activator.requests.ended).request();
    assertThat(told.podSecure()).isTrue();
    assertThat(told.destination()).isEqualTo(pod.destination());
  }

  @Test
  void refusesAPodThatHasNotTheNameOfAllPods() throws Exception {
    show(authority.issue("kn-user-default"));
    ok();
    assertThat(answer()).isEqualTo("502 the pod's certificate is not trusted\n");
  }

  @Test
  void refusesAPodThatOnlyAStrangerVouchesFor() throws Exception {
    show(Authority.named("one").issue("kn-user-default", NAME));
    ok();
    assertThat(answer()).isEqualTo("502 the pod's certificate is not trusted\n");
  }

  @Test
  void refusesAllPodsWhileNobodyVouches() throws Exception {
    tls.trust(List.of());
    ok();
    assertThat(answer()).isEqualTo("502 the pod's certificate is not trusted\n");
  }

  @Test
  void sendsNothingToAPodWithoutTls() throws Exception {
    pod(caller -> {
      caller.send("HTTP/1.1 400 Bad Request\r\n\r\n");
      caller.awaitEnd();
    });
    assertThat(answer()).isEqualTo("502 TLS with the pod failed\n");
  }

  @Test
  void goesToAnotherPodWhereOneCannotProveWhoItIs() throws Exception {
    var good = closing(ScriptedPod.overTls(shown::get, caller -> {
      caller.readHead();
      caller.send(OK);
    }));
    var stranger = Authority.named("two").issue("kn-user-default", NAME).serve();
    var bad = closing(ScriptedPod.overTls(() -> stranger, RawPeer::readHead));
    activator.throttle.grow(bad.destination(), 1);
    activator.throttle.retriesGoTo(good.destination());

    assertThat(answer()).isEqualTo("200 ok");
    assertThat(activator.throttle.retried()).isOne();
  }

  @Test
  @DisplayName("TL-03 follows another authority on new connections, and keeps those there are")
  void followsANewAuthority() throws Exception {
    ok();
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");

      // when another authority takes over, then the connection that is there goes on
      var next = Authority.named("two");
      tls.trust(List.of(next.certificate()));
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(used).hasValue(1);

      // and new pods must have the new one's word
      var late = closing(ScriptedPod.overTls(shown::get, peer -> {
        peer.readHead();
        peer.send(OK);
      }));
      activator.throttle.stop();
      activator.throttle.grow(late.destination(), 10);
      assertThat(answer()).isEqualTo("502 the pod's certificate is not trusted\n");
      show(next.issue("kn-user-default", NAME));
      assertThat(answer()).isEqualTo("200 ok");
    }
  }

  @Test
  void neverLendsAConnectionToAnotherNamespace() throws Exception {
    var other = new RevisionId("other", "hello-00001");
    activator.revisions.put(other, Revision.of(other, 0));
    ok();
    assertThat(answer()).isEqualTo("200 ok");
    awaitIdle();

    try (var caller = activator.connect()) {
      caller.sendHead("GET / HTTP/1.1", "Host: x", "Knative-Serving-Namespace: other",
          "Knative-Serving-Revision: hello-00001");
      assertThat(response(caller)).isEqualTo("502 the pod's certificate is not trusted\n");
    }
    assertThat(seen).hasSize(1);
  }

  @Test
  void countsTheHandshakeAsPartOfAnAttemptToConnect() throws Exception {
    // given a pod that says nothing on its first two connections
    var connections = new AtomicInteger();
    var pod = closing(new ScriptedPod(caller -> {
      if (connections.incrementAndGet() <= 2) {
        caller.awaitEnd();
      } else {
        var tls = RawPeer.overTls(caller.socket(), shown.get());
        tls.readHead();
        tls.send(OK);
        tls.awaitEnd();
      }
    }));
    activator.throttle.grow(pod.destination(), 1);

    // then the third serves
    assertThat(answer()).isEqualTo("200 ok");
    assertThat(connections).hasValueGreaterThanOrEqualTo(3);
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
  void asksAgainWhereThePooledConnectionWasDead() throws Exception {
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
  void asksInHttp2WhatItWasAskedInHttp2(String protocols) throws Exception {
    BlockingQueue<String> chosen = new LinkedBlockingQueue<>();
    BlockingQueue<RawHttp2.Frame> frames = new LinkedBlockingQueue<>();
    secured(caller -> {
      var http2 = RawHttp2.pod(caller);
      used.incrementAndGet();
      chosen.add(caller.tls().getApplicationProtocol());
      while (true) {
        var frame = http2.read();
        frames.add(frame);
        if (frame.ends()) {
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
    assertThat(next(chosen)).isEqualTo(protocols.startsWith("h2") ? "h2" : "");
    assertThat(next(frames).field(":scheme")).isEqualTo("https");
    assertThat(used).hasValue(1);
  }

  @Test
  void doesNotAskInHttp2WhereThePodSaysItSpeaksOnlyHttp1() throws Exception {
    secured(RawPeer::readHead, "http/1.1");
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, HEAD);
      assertThat(caller.response(1)).isEqualTo("502 TLS with the pod failed\n");
    }
  }

  @Test
  void asksInHttp1WithoutTheQuestion() throws Exception {
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
