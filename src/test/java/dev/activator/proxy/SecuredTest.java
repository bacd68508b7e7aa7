package dev.activator.proxy;

import dev.activator.testing.TestRevisions;
import dev.activator.revision.Destination;
import dev.activator.testing.Authority;
import dev.activator.testing.Certificate;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import dev.activator.tls.PodTls;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.BeforeEach;

/** Pods over TLS, and an authority that vouches for them. */
abstract class SecuredTest extends WireTest {
  static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  static final String NAME = PodTls.SERVER_NAME;
  static final String TIMED_OUT = "502 timed out connecting\n";
  static final String[] HEAD = {":method", "GET", ":scheme", "http", ":path", "/",
      ":authority", "hello.example", "knative-serving-namespace", "default",
      "knative-serving-revision", "hello-00001"};

  /** Where pods take TLS, if it is on another port than without. */
  final Map<Destination, Destination> moved = new ConcurrentHashMap<>();
  final PodTls tls = new PodTls(TestRevisions.unused(), pod -> moved.getOrDefault(pod, pod));
  final AtomicReference<SSLContext> shown = new AtomicReference<>();
  /** Connections on which something was asked; an attempt that took too long is none. */
  final AtomicInteger used = new AtomicInteger();
  Authority authority;

  /** The Service that pods are addressed by; null for the pods themselves. */
  volatile String service;

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.services(_ -> service).slow();
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

  void show(Certificate certificate) throws GeneralSecurityException, IOException {
    shown.set(certificate.serve());
  }

  /** A pod over TLS, and permits for it. */
  ScriptedPod secured(ScriptedPod.Script script, String... protocols) throws IOException {
    var pod = closing(ScriptedPod.overTls(shown::get, script, protocols));
    activator.throttle.grow(pod.destination(), 100);
    return pod;
  }

  ScriptedPod ok() throws IOException {
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

  String answer() throws IOException {
    return answer(() -> activator.get("/"));
  }

  /** Sends a request. */
  interface Asking {
    RawPeer ask() throws IOException;
  }

  /** The request is repeated where a handshake took too long, as on a busy machine. */
  String answer(Asking asking) throws IOException {
    String answer = TIMED_OUT;
    for (int i = 0; i < 10 && answer.equals(TIMED_OUT); i++) {
      try (var caller = asking.ask()) {
        answer = response(caller);
      }
    }
    return answer;
  }
}
