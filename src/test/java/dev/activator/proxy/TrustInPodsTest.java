package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Authority;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Which pods are trusted with requests, and what happens to requests where none is. */
class TrustInPodsTest extends SecuredTest {
  @Test
  @DisplayName("refuses a pod whose certificate does not name the namespace, and sends it nothing")
  void refusesAPodOfAnotherNamespace() throws Exception {
    show(authority.issue(NAME, "kn-user-other"));
    ok();

    assertThat(answer()).isEqualTo("502 the pod's certificate is not trusted\n");
    assertThat(seen).isEmpty();
  }

  @Test
  @DisplayName("takes the name of the namespace at any place of the certificate")
  void takesTheNamespaceAtAnyPlace() throws Exception {
    ok();
    assertThat(answer()).isEqualTo("200 ok");
    show(authority.issue(NAME, "some.thing", "kn-user-default"));
    ok();
    assertThat(answer()).isEqualTo("200 ok");
  }

  @Test
  void acceptsAPod_whenItsChainHasAnUnrelatedCertificate() throws Exception {
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
  void refusesAPodThatHasNotTheNameOfAllPods() throws Exception {
    show(authority.issue("kn-user-default"));
    ok();
    assertThat(answer()).isEqualTo("502 the pod's certificate is not trusted\n");
  }

  @Test
  void answers502_whenAnUntrustedAuthorityIssuedThePodsCertificate() throws Exception {
    show(Authority.named("one").issue("kn-user-default", NAME));
    ok();
    assertThat(answer()).isEqualTo("502 the pod's certificate is not trusted\n");
  }

  @Test
  void refusesAPodWhoseCertificateHasExpiredInBothVersionsOfHttp() throws Exception {
    show(authority.issueExpired("kn-user-default", NAME));
    ok();
    assertThat(answer()).isEqualTo("502 the pod's certificate is not trusted\n");
    try (var caller = RawHttp2.caller(activator.connect())) {
      String received = TIMED_OUT;
      for (int stream = 1; received.equals(TIMED_OUT); stream += 2) {
        caller.headers(stream, true, HEAD);
        received = caller.response(stream);
      }
      assertThat(received).isEqualTo("502 the pod's certificate is not trusted\n");
    }
    assertThat(seen).isEmpty();
    // and a pod with a new certificate serves
    show(authority.issue("kn-user-default", NAME));
    assertThat(answer()).isEqualTo("200 ok");
  }

  @Test
  void refusesAPodWhoseAuthorityHasExpired() throws Exception {
    var old = Authority.named("old", Instant.now().minusSeconds(60));
    tls.trust(List.of(old.certificate(), authority.certificate()));
    show(old.issue("kn-user-default", NAME));
    ok();

    assertThat(answer()).isEqualTo("502 the pod's certificate is not trusted\n");
    assertThat(seen).isEmpty();
    show(authority.issue("kn-user-default", NAME));
    assertThat(answer()).isEqualTo("200 ok");
  }

  @Test
  void refusesAPodThatSpeaksAnOlderVersionOfTlsAndSoCannotRenegotiate() throws Exception {
    withTls(tls -> tls.setProtocols(new String[]{"TLSv1.2"}));
    assertThat(answer()).isEqualTo("502 TLS with the pod failed\n");
    assertThat(seen).isEmpty();
  }

  @Test
  void failsAtAPodThatDoesNotKnowTheNameOfAllPods() throws Exception {
    withTls(tls -> tls.setSNIMatchers(List.of(SNIHostName.createSNIMatcher("other\\.example"))));
    assertThat(answer()).isEqualTo("502 TLS with the pod failed\n");
    assertThat(seen).isEmpty();
  }

  /** A pod whose TLS is set up so, and permits for it. */
  private void withTls(Consumer<SSLParameters> setUp) throws IOException {
    pod(caller -> {
      var peer = RawPeer.overTls(caller.socket(), shown.get());
      var parameters = peer.tls().getSSLParameters();
      setUp.accept(parameters);
      peer.tls().setSSLParameters(parameters);
      seen.add(peer.readHead());
      peer.send(OK);
    });
  }

  @Test
  void answers502_whenNoAuthorityIsTrusted() throws Exception {
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
    assertThat(answer()).isEqualTo("502 TLS with the pod failed: it does not speak TLS\n");
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
    // More than once if a handshake takes longer than a dial may.
    assertThat(activator.throttle.retried()).isPositive();
  }

  @Test
  @DisplayName("follows another authority on new connections, and keeps those there are")
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
    activator.revisions.put(Revision.of(other, 0));
    ok();
    assertThat(answer()).isEqualTo("200 ok");
    awaitIdle();

    assertThat(answer(() -> activator.connect().sendHead("GET / HTTP/1.1", "Host: x",
        "Knative-Serving-Namespace: other", "Knative-Serving-Revision: hello-00001")))
        .isEqualTo("502 the pod's certificate is not trusted\n");
    assertThat(seen).hasSize(1);
  }
}
