package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.PodTransport;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.testing.Authority;
import dev.activator.testing.Certificate;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.LogLines;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import dev.activator.tls.PodTls;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods whose programs speak TLS themselves: who is trusted, and which version of HTTP they get. */
class PodsOverTlsTest extends WireTest {
  private static final String NAME = "web.shop.svc";
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final String[] IN_HTTP2 = {":method", "GET", ":scheme", "http", ":path", "/",
      ":authority", "hello.example", "knative-serving-namespace", "default",
      "knative-serving-revision", "hello-00001"};
  private static final String[] GRPC = {":method", "POST", ":scheme", "http", ":path", "/a.B/C",
      ":authority", "hello.example", "knative-serving-namespace", "default",
      "knative-serving-revision", "hello-00001", "content-type", "application/grpc", "te",
      "trailers"};

  private final AtomicReference<SSLContext> shown = new AtomicReference<>();
  private final AtomicInteger handshakes = new AtomicInteger();
  /** The protocol and the requested names of each connection with a request. */
  private final BlockingQueue<String> asked = new LinkedBlockingQueue<>();
  private Authority authority;

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.slow();
  }

  @BeforeEach
  void trust() throws Exception {
    authority = Authority.named("one");
    shown.set(authority.issue("other.example", NAME).serve());
    identified(authority.pem());
  }

  /** The revision's pods must have a certificate of one of these from now on. */
  private void identified(@Nullable String authorities) {
    activator.revisions.put(new Revision(Activator.HELLO, "", PortProtocol.NEGOTIATED, 0,
        RequestTimeouts.DEFAULT, true, ReadinessProbeSpec.CONNECT, Map.of(), Map.of(), null, null,
        new PodIdentity.OfService(NAME, authorities)));
  }

  /** A pod that speaks both versions of HTTP, and says in which it was asked. */
  private ScriptedPod secured(String... protocols) throws IOException {
    return secured(this::serve, protocols);
  }

  private ScriptedPod secured(ScriptedPod.Script script, String... protocols) throws IOException {
    var pod = closing(ScriptedPod.overTls(() -> {
      handshakes.incrementAndGet();
      return shown.get();
    }, script, protocols));
    activator.throttle.grow(pod.destination(), 100);
    return pod;
  }

  private void serve(RawPeer caller) throws IOException {
    caller.tls().startHandshake();
    if (caller.tls().getApplicationProtocol().equals("h2")) {
      serveHttp2(caller);
      return;
    }
    for (int i = 0;; i++) {
      var head = caller.readHead();
      caller.readBody(head);
      seen.add(head);
      if (i == 0) {
        asked.add(connection(caller));
      }
      caller.send(OK);
    }
  }

  private void serveHttp2(RawPeer caller) throws IOException {
    var http2 = RawHttp2.pod(caller);
    for (var frame = http2.read(); true; frame = http2.read()) {
      if (frame.type() == RawHttp2.HEADERS) {
        asked.add(connection(caller) + " " + frame.field(":scheme") + " "
            + frame.field(":authority"));
        http2.headers(frame.stream(), false, ":status", "200");
        http2.data(frame.stream(), true, "ok");
      }
    }
  }

  private static String connection(RawPeer caller) {
    var session = (ExtendedSSLSession) caller.tls().getSession();
    return "'" + caller.tls().getApplicationProtocol() + "' "
        + session.getRequestedServerNames().getFirst();
  }

  private String answer() throws IOException {
    String answer = SecuredTest.TIMED_OUT;
    for (int i = 0; i < 10 && answer.equals(SecuredTest.TIMED_OUT); i++) {
      try (var caller = activator.get("/")) {
        answer = response(caller);
      }
    }
    return answer;
  }

  @Test
  void sendsTheCallersHostAndTheNameOfTheServiceInTheHandshake() throws Exception {
    secured("http/1.1");

    assertThat(answer()).isEqualTo("200 ok");

    assertThat(next(asked)).contains("'http/1.1'").contains("value=" + NAME);
    assertThat(seen().header("Host")).isEqualTo("hello.example");
  }

  @ParameterizedTest(name = "a pod that offers {0} gets {1}")
  @CsvSource({"h2 http/1.1, h2", "h2, h2", "http/1.1, http/1.1", "'', ''"})
  void leavesTheVersionOfHttpToThePod(String offered, String chosen) throws Exception {
    secured(offered.isEmpty() ? new String[0] : offered.split(" "));

    // when callers of both versions ask
    assertThat(answer()).isEqualTo("200 ok");
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, IN_HTTP2);
      assertThat(caller.response(1)).isEqualTo("200 ok");
    }

    assertThat(next(asked)).startsWith("'" + chosen + "' ")
        .endsWith(chosen.equals("h2") ? " https hello.example" : "value=" + NAME);
    var ended = next(activator.requests.ended).request();
    assertThat(ended.podSecure()).isTrue();
    assertThat(ended.podInHttp2()).isEqualTo(chosen.equals("h2"));
  }

  @Test
  void sharesAConnectionOnceThePodHasChosenHttp2() throws Exception {
    var pod = secured("h2", "http/1.1");
    try (var caller = activator.connect()) {
      for (int i = 0; i < 10; i++) {
        Activator.request(caller, "POST / HTTP/1.1", "Content-Length: 0");
        assertThat(response(caller)).isEqualTo("200 ok");
      }
    }
    assertThat(pod.connections()).isEqualTo(1);
  }

  @Test
  void reusesAConnectionOnceThePodHasChosenHttp1() throws Exception {
    var pod = secured("http/1.1");
    try (var caller = activator.connect()) {
      for (int i = 0; i < 10; i++) {
        Activator.request(caller, "POST / HTTP/1.1", "Transfer-Encoding: chunked");
        caller.send("3\r\nabc\r\n0\r\n\r\n");
        assertThat(response(caller)).isEqualTo("200 ok");
      }
    }
    assertThat(pod.connections()).isEqualTo(1);
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"h2", "http/1.1"})
  void carriesABodyInTheVersionThatThePodHasChosen(String protocol) throws Exception {
    secured(caller -> {
      caller.tls().startHandshake();
      if (protocol.equals("h2")) {
        var http2 = RawHttp2.pod(caller);
        for (var frame = http2.read(); true; frame = http2.read()) {
          if (frame.ends()) {
            http2.headers(frame.stream(), false, ":status", "200");
            http2.data(frame.stream(), true, "ok");
          }
        }
      } else {
        serve(caller);
      }
    }, protocol);
    try (var caller = RawHttp2.caller(activator.connect())) {
      var head = IN_HTTP2.clone();
      head[1] = "POST";
      for (int stream = 1; stream < 10; stream += 2) {
        caller.headers(stream, false, head);
        caller.data(stream, true, "abc");
        assertThat(caller.response(stream)).isEqualTo("200 ok");
      }
    }
  }

  @Test
  void doesNotSendGrpcInHttp1() throws Exception {
    secured("http/1.1");
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, GRPC);
      assertThat(caller.read(RawHttp2.HEADERS).fields()).contains("grpc-status: 14",
          "grpc-message: the pod does not speak HTTP/2");
    }
    assertThat(seen).isEmpty();
    // and other requests are still sent in HTTP/1.1
    assertThat(answer()).isEqualTo("200 ok");
  }

  @Test
  void opensNoConnectionForEachGrpcRequest_toAPodThatHasChosenHttp1() throws Exception {
    secured("http/1.1");
    try (var caller = RawHttp2.caller(activator.connect())) {
      for (int stream = 1; stream < 20; stream += 2) {
        caller.headers(stream, true, GRPC);
        assertThat(caller.read(RawHttp2.HEADERS).fields()).contains(
            "grpc-message: the pod does not speak HTTP/2");
      }
      assertThat(handshakes).hasValue(1);
      // and other requests, which do not insist on HTTP/2, have a connection of their own
      caller.headers(21, true, IN_HTTP2);
      assertThat(caller.response(21)).isEqualTo("200 ok");
    }
    assertThat(handshakes).hasValue(2);
  }

  @Test
  void offersOnlyHttp2ForGrpc_asThePodMayPreferHttp1() throws Exception {
    secured("http/1.1", "h2");
    assertThat(answer()).isEqualTo("200 ok");
    assertThat(next(asked)).startsWith("'http/1.1'");

    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, GRPC);
      assertThat(caller.response(1)).isEqualTo("200 ok");
    }

    assertThat(next(asked)).startsWith("'h2'");
  }

  @Test
  void sendsGrpcOverTheConnectionOfOtherRequests_onceThePodHasChosenHttp2() throws Exception {
    var pod = secured("h2", "http/1.1");
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, true, IN_HTTP2);
      assertThat(caller.response(1)).isEqualTo("200 ok");
      caller.headers(3, true, GRPC);
      assertThat(caller.response(3)).isEqualTo("200 ok");
    }
    assertThat(pod.connections()).isEqualTo(1);
  }

  @Test
  void carriesAWebSocketToAPodThatPrefersHttp2() throws Exception {
    secured(caller -> {
      caller.tls().startHandshake();
      if (caller.tls().getApplicationProtocol().equals("h2")) {
        serveHttp2(caller);
        return;
      }
      caller.readHead();
      caller.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
          + "Upgrade: websocket\r\n\r\nwelcome!");
      caller.send(caller.read(8));
    }, "h2", "http/1.1");
    try (var caller = activator.get("/", "Connection: Upgrade", "Upgrade: websocket")) {
      assertThat(caller.readHead().start()).isEqualTo("HTTP/1.1 101 Switching Protocols");
      assertThat(caller.read(8)).isEqualTo("welcome!");

      // other requests are in HTTP/2 meanwhile
      assertThat(answer()).isEqualTo("200 ok");
      assertThat(next(asked)).startsWith("'h2'");

      caller.send("goodbye.");
      assertThat(caller.read(8)).isEqualTo("goodbye.");
    }
  }

  @Test
  void acceptsTls12() throws Exception {
    pod(socket -> {
      var caller = RawPeer.overTls(socket.socket(), shown.get());
      var parameters = caller.tls().getSSLParameters();
      parameters.setProtocols(new String[]{"TLSv1.2"});
      caller.tls().setSSLParameters(parameters);
      caller.readHead();
      caller.send(OK);
    });
    assertThat(answer()).isEqualTo("200 ok");
  }

  @Test
  void refusesAPodWithAnotherName_andSaysWhich() throws Exception {
    refused(authority.issue("other.example", "web.shop.svc.cluster.local"),
        "it is for another name",
        "its certificate does not name web.shop.svc, but other.example, web.shop.svc.cluster.local");
  }

  @Test
  void refusesAPodOfAnUnknownIssuer_andSaysWhich() throws Exception {
    refused(Authority.named("two").issue(NAME), "its issuer is unknown",
        "none of the trusted authorities has issued its certificate; the issuer is CN=two");
  }

  @Test
  void refusesAPodWhoseCertificateHasExpired_andSaysWhen() throws Exception {
    refused(authority.issueExpired(NAME), "it has expired, or is not valid yet",
        "the certificate of CN=web.shop.svc is valid from ");
  }

  @Test
  void refusesAPodWhoseAuthorityHasExpired_andNamesIt() throws Exception {
    var old = Authority.named("old", Instant.now().minusSeconds(60));
    identified(authority.pem() + old.pem());
    refused(old.issue(NAME), "it has expired, or is not valid yet",
        "the authority CN=old is valid from");
  }

  @Test
  void refusesAnExpiredCertificate_evenIfItIsInTheBundleItself() throws Exception {
    var expired = authority.issueExpired(NAME);
    identified(expired.pem());
    refused(expired, "it has expired, or is not valid yet",
        "the certificate of CN=web.shop.svc is valid from ");
  }

  private void refused(Certificate certificate, String reason, String line) throws Exception {
    shown.set(certificate.serve());
    var pod = secured();
    try (var log = LogLines.of(PodTls.class)) {
      assertThat(answer())
          .isEqualTo("502 the pod's certificate is not trusted: " + reason + "\n");
      assertThat(log.at(Level.WARN))
          .filteredOn(one -> one.startsWith("TLS with the pod at /" + pod.destination()))
          .singleElement().asString().contains(" fails: " + line);
    }
    assertThat(seen).isEmpty();
  }

  @Test
  void sendsNothingToAPodThatSpeaksPlainText() throws Exception {
    var received = new LinkedBlockingQueue<String>();
    pod(caller -> {
      received.add(caller.read(1));
      caller.send("HTTP/1.1 400 Bad Request\r\n\r\n");
      caller.awaitEnd();
    });
    assertThat(answer()).isEqualTo("502 TLS with the pod failed: it does not speak TLS\n");
    // The first byte of a TLS handshake.
    assertThat(Set.copyOf(received)).containsExactly("\u0016");
  }

  @Test
  void saysThatTlsFailed_whenThePodEndsTheHandshake() throws Exception {
    pod(caller -> caller.read(1));
    assertThat(answer()).isEqualTo("502 TLS with the pod failed\n");
  }

  @Test
  void verifiesNewRequestsWithANewBundle_andSendsThemOverNoOldConnection() throws Exception {
    var pod = secured("h2", "http/1.1");
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");

      // when the bundle gets another authority, beside the old one, the pod is verified again
      var next = Authority.named("two");
      identified(authority.pem() + next.pem());
      Activator.request(caller, "GET / HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(pod.connections()).isEqualTo(2);

      // and when it loses the old one, the pod is not trusted
      identified(next.pem());
      assertThat(answer()).isEqualTo(
          "502 the pod's certificate is not trusted: its issuer is unknown\n");

      // until it has a new certificate
      shown.set(next.issue(NAME).serve());
      assertThat(answer()).isEqualTo("200 ok");
    }
  }

  @Test
  void trustsNoPod_whileNoAuthorityIsKnown() throws Exception {
    identified(null);
    refused(authority.issue(NAME), "its issuer is unknown",
        "it is not known which authorities to trust");
  }

  @Test
  void keepsToTls_whileThePodsAreThoseOfThePortBefore() throws Exception {
    secured("http/1.1");
    activator.throttle.transport = activator.revisions.of(Activator.HELLO).spec().transport();

    plainFromNowOn();

    assertThat(answer()).isEqualTo("200 ok");
    assertThat(next(asked)).startsWith("'http/1.1'");
  }

  @Test
  void keepsToPlainText_whileThePodsAreThoseOfThePortBefore() throws Exception {
    pod(plain -> {
      plain.readHead();
      plain.send(OK);
    });
    activator.throttle.transport = PodTransport.PLAIN;

    assertThat(answer()).isEqualTo("200 ok");
    var ended = next(activator.requests.ended).request();
    assertThat(ended.podSecure()).isFalse();
  }

  private void plainFromNowOn() {
    activator.revisions.put(new Revision(Activator.HELLO, "", PortProtocol.HTTP1, 0,
        RequestTimeouts.DEFAULT, true, ReadinessProbeSpec.CONNECT, Map.of(), Map.of(), null));
  }

  @Test
  void sendsAQueuedRequestInPlainText_onceItsPodsNoLongerSpeakTls() throws Exception {
    try (var caller = activator.get("/")) {
      eventually(() -> assertThat(activator.throttle.queued()).isEqualTo(1));
      plainFromNowOn();
      pod(plain -> {
        plain.readHead();
        plain.send(OK);
      });
      assertThat(response(caller)).isEqualTo("200 ok");
    }
  }
}
