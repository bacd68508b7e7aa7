package dev.activator.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.testing.TestRevisions;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.ClusterUnavailableException;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.testing.Authority;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.Make;
import dev.activator.testing.TestValues;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SystemInternalTlsTest {
  private final EmbeddedApi api = EmbeddedApi.start();
  private final ClusterWatcher cluster = Make
      .cluster(() -> new ClusterAccess.At(URI.create(api.url())));

  @AfterEach
  void close() {
    cluster.close();
    api.close();
  }

  private SystemInternalTls tls(boolean required) throws InterruptedException {
    cluster.start();
    return new SystemInternalTls(cluster::followCertificates, "knative-serving", () -> required,
        new PodTls(TestRevisions.unused()),
        TestValues.TLS13);
  }

  private void hasSecret(String chain, String key) {
    api.store().create(BuiltInKinds.SECRET, Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'namespace': 'knative-serving',
         'name': 'routing-serving-certs'},
         'data': {'tls.crt': '%s', 'tls.key': '%s', 'ca.crt': ''}}
        """.formatted(base64(chain), base64(key))));
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void needsNothingWhereItIsNotRequired() throws Exception {
    var tls = tls(false);
    tls.start();
    assertThat(tls.certificate()).isNull();
  }

  @Test
  void showsTheSecretsCertificate() throws Exception {
    var certificate = Authority.named("one").issue("kn-routing");
    hasSecret(certificate.pem(), certificate.keyPem());
    var tls = tls(true);
    tls.start();
    assertThat(tls.certificate()).isNotNull();
  }

  @Test
  void doesNotStartWithoutTheSecret() throws Exception {
    var tls = tls(true);
    assertThatThrownBy(tls::start).isInstanceOf(ClusterUnavailableException.class)
        .hasMessageContaining("routing-serving-certs");
  }

  @Test
  void doesNotStartWithACertificateThatCannotBeUsed() throws Exception {
    hasSecret("no certificate", "no key");
    var tls = tls(true);
    assertThatThrownBy(tls::start).isInstanceOf(IOException.class)
        .hasMessageContaining("routing-serving-certs").hasMessageNotContaining("no key");
  }
}
