package dev.activator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.properties.MetricsServerProperties;
import dev.activator.testing.Certificate;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.time.Duration;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServer;
import org.springframework.http.HttpStatus;
import org.springframework.mock.env.MockEnvironment;

/** The port for metrics over TLS, with callers who show a certificate and those who do not. */
class MetricsServerTest {
  private static final KeyManager[] NOBODY = {};

  @TempDir
  Path directory;
  private Certificate certificate;

  @BeforeEach
  void makeACertificate() throws Exception {
    certificate = Certificate.ec();
    certificate.write(path("tls.crt"), path("tls.key"), "PKCS#8");
  }

  private Path path(String name) {
    return directory.resolve(name);
  }

  private WebServer serve(String clientAuth) {
    var properties = new MetricsServerProperties("127.0.0.1", 9090, path("tls.crt").toString(),
        path("tls.key").toString(), clientAuth,
        clientAuth.equals("none") ? "" : path("tls.crt").toString(), "1.3", "1.3");
    var factory = new NettyReactiveWebServerFactory(0);
    new MetricsServerConfiguration().metricsServer(properties, new MockEnvironment())
        .customize(factory);
    var server = factory.getWebServer((_, response) -> {
      response.setStatusCode(HttpStatus.OK);
      return response.setComplete();
    });
    server.start();
    return server;
  }

  /** Who shows it, and trusts it. */
  private KeyManager[] somebody() throws Exception {
    var keys = KeyStore.getInstance("PKCS12");
    keys.load(null, null);
    keys.setKeyEntry("one", certificate.key(), new char[0],
        new java.security.cert.Certificate[]{certificate.certificate()});
    var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, new char[0]);
    return managers.getKeyManagers();
  }

  private int status(WebServer server, KeyManager[] caller) throws Exception {
    var trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("one", certificate.certificate());
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    var context = SSLContext.getInstance("TLS");
    context.init(caller, trust.getTrustManagers(), new SecureRandom());
    try (var client = HttpClient.newBuilder().sslContext(context).build()) {
      return client
          .send(HttpRequest.newBuilder(URI.create("https://localhost:" + server.getPort() + "/"))
              .timeout(Duration.ofSeconds(30)).build(), BodyHandlers.discarding())
          .statusCode();
    }
  }

  @Test
  @DisplayName("6.1 METRICS_PROMETHEUS_TLS_CERT and _TLS_KEY are enough for TLS")
  void aCertificateIsEnough() throws Exception {
    var server = serve("none");
    assertThat(status(server, NOBODY)).isEqualTo(200);
    server.stop();
  }

  @Test
  @DisplayName("6.1 METRICS_PROMETHEUS_TLS_CLIENT_AUTH=require refuses who shows no certificate")
  void refusesWhoShowsNone() throws Exception {
    var server = serve("require");
    assertThat(status(server, somebody())).isEqualTo(200);
    assertThatThrownBy(() -> status(server, NOBODY)).isInstanceOf(IOException.class);
    server.stop();
  }

  @Test
  @DisplayName("6.1 METRICS_PROMETHEUS_TLS_CLIENT_AUTH=optional takes both")
  void takesBoth() throws Exception {
    var server = serve("optional");
    assertThat(status(server, somebody())).isEqualTo(200);
    assertThat(status(server, NOBODY)).isEqualTo(200);
    server.stop();
  }
}
