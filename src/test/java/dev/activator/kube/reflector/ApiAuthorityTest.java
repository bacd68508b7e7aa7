package dev.activator.kube.reflector;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.activator.testing.Authority;
import dev.activator.testing.Certificate;
import dev.activator.testing.TestValues;
import io.fabric8.kubernetes.client.Config;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.ExecutionException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** The server's certificate comes from an authority that Java trusts. */
@Isolated("sets Java's authorities")
class ApiAuthorityTest {
  private static final String TRUST_STORE = "javax.net.ssl.trustStore";

  private final Authority javas = Authority.named("java");
  private final @Nullable String before = System.getProperty(TRUST_STORE);
  @TempDir
  private Path directory;

  ApiAuthorityTest() throws Exception {}

  @BeforeEach
  void trustInJava() throws Exception {
    var store = KeyStore.getInstance("JKS");
    store.load(null, null);
    store.setCertificateEntry("java", javas.certificate());
    var file = directory.resolve("authorities");
    try (var out = Files.newOutputStream(file)) {
      store.store(out, "changeit".toCharArray());
    }
    System.setProperty(TRUST_STORE, file.toString());
  }

  @AfterEach
  void restore() {
    if (before == null) {
      System.clearProperty(TRUST_STORE);
    } else {
      System.setProperty(TRUST_STORE, before);
    }
  }

  private int statusOf(Certificate certificate, @Nullable String authorityPem) throws Exception {
    return statusOf(certificate, authorityPem, false);
  }

  private int statusOf(Certificate certificate, @Nullable String authorityPem, boolean trustsAll)
      throws Exception {
    var server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(certificate.serve()));
    server.createContext("/", exchange -> {
      exchange.sendResponseHeaders(200, -1);
      exchange.close();
    });
    server.start();
    var config = Config.empty();
    config.setMasterUrl("https://localhost:" + server.getAddress().getPort());
    config.setTrustCerts(trustsAll);
    if (authorityPem != null) {
      config.setCaCertData(Base64.getEncoder().encodeToString(authorityPem.getBytes(UTF_8)));
    }
    try (var api = TestValues.kubernetesApi(config)) {
      return api.fetch("version", Duration.ofSeconds(120)).get().status();
    } finally {
      server.stop(0);
    }
  }

  @Test
  void refusesACertificateOfAnAuthorityThatOnlyJavaTrusts() throws Exception {
    var cluster = Authority.named("cluster");

    assertThatThrownBy(() -> statusOf(javas.issue("localhost"), cluster.pem()))
        .isInstanceOf(ExecutionException.class).hasRootCauseMessage(
            "unable to find valid certification path to requested target")
        .hasCauseInstanceOf(SSLHandshakeException.class);
  }

  @Test
  void trustsEachAuthorityOfTheCluster() throws Exception {
    var cluster = Authority.named("cluster");
    var second = Authority.named("second");

    assertThat(statusOf(second.issue("localhost"), cluster.pem() + second.pem())).isEqualTo(200);
  }

  @Test
  void refusesACertificateForAnotherHost() throws Exception {
    var cluster = Authority.named("cluster");

    assertThatThrownBy(() -> statusOf(cluster.issue("other"), cluster.pem()))
        .hasCauseInstanceOf(SSLPeerUnverifiedException.class);
  }

  @Test
  void acceptsACertificateForAnotherHostIfItVerifiesNone() throws Exception {
    assertThat(statusOf(Authority.named("unknown").issue("other"), null, true)).isEqualTo(200);
  }

  @Test
  void trustsJavasAuthoritiesIfTheClusterNamesNone() throws Exception {
    assertThat(statusOf(javas.issue("localhost"), null)).isEqualTo(200);
  }

  @Test
  void saysThatAnAuthorityCannotBeRead() {
    assertThatThrownBy(() -> statusOf(javas.issue("localhost"), "nothing"))
        .isInstanceOf(IllegalArgumentException.class).hasMessage("the authority of the API server"
            + " cannot be read: there is no certificate that can be read");
  }
}
