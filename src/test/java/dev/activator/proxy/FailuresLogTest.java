package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.LogLines;
import dev.activator.lifecycle.Readiness;
import dev.activator.proxy.exchange.Router;
import dev.activator.tls.PodTls;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("reads the log")
class FailuresLogTest extends SecuredTest {
  @Test
  void saysOnceWhyTlsWithAPodFails() throws Exception {
    show(authority.issueExpired("kn-user-default", NAME));
    ok();

    try (var log = LogLines.of(PodTls.class)) {
      for (int i = 0; i < 5; i++) {
        assertThat(answer()).isEqualTo("502 the pod's certificate is not trusted\n");
      }
      assertThat(log.lines()).singleElement().asString().startsWith("WARN TLS with the pod at ")
          .contains("fails: java.security.cert.CertificateExpiredException: NotAfter: ");
    }
  }

  @Test
  void saysOnlyWhatChangesInAnswersToTheKubelet() throws Exception {
    try (var log = LogLines.of(Router.class)) {
      probe("200 ");
      activator.readiness = new Readiness.NotReady("first");
      probe("500 first\n");
      probe("500 first\n");
      activator.readiness = new Readiness.NotReady("second");
      probe("500 second\n");
      activator.readiness = new Readiness.Ready();
      probe("200 ");
      probe("200 ");

      assertThat(log.lines()).containsExactly("WARN The kubelet's probe fails: first",
          "WARN The kubelet's probe fails: second", "INFO The kubelet's probe succeeds");
    }
  }

  private void probe(String expected) throws IOException {
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET / HTTP/1.1", "User-Agent: kube-probe/1.30");
      assertThat(response(caller)).isEqualTo(expected);
    }
  }
}
