package dev.activator.management;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.settings.MetricsServerProperties;
import dev.activator.lifecycle.StartupFailedException;
import dev.activator.testing.Certificate;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.time.Duration;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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
    return serve(clientAuth, "1.3", "", "");
  }

  private WebServer serve(String clientAuth, String version, String suites, String curves) {
    var properties = new MetricsServerProperties("127.0.0.1", 9090, path("tls.crt").toString(),
        path("tls.key").toString(), clientAuth,
        clientAuth.equals("none") ? "" : path("tls.crt").toString(), version, version, suites,
        curves);
    var factory = new NettyReactiveWebServerFactory(0);
    new MetricsServer(properties, new MockEnvironment()).customize(factory);
    var server = factory.getWebServer((_, response) -> {
      response.setStatusCode(HttpStatus.OK);
      return response.setComplete();
    });
    server.start();
    return server;
  }

  /** Who shows it, and trusts it. */
  private KeyManager[] aClient() throws Exception {
    var keys = KeyStore.getInstance("PKCS12");
    keys.load(null, null);
    keys.setKeyEntry("one", certificate.key(), new char[0],
        new java.security.cert.Certificate[]{certificate.certificate()});
    var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, new char[0]);
    return managers.getKeyManagers();
  }

  private SSLContext context(KeyManager[] caller) throws Exception {
    var trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("one", certificate.certificate());
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    var context = SSLContext.getInstance("TLS");
    context.init(caller, trust.getTrustManagers(), new SecureRandom());
    return context;
  }

  private int status(WebServer server, KeyManager[] caller) throws Exception {
    try (var client = HttpClient.newBuilder().sslContext(context(caller)).build()) {
      return client
          .send(HttpRequest.newBuilder(URI.create("https://localhost:" + server.getPort() + "/"))
              .timeout(Duration.ofMinutes(2)).build(), BodyHandlers.discarding())
          .statusCode();
    }
  }

  @Test
  @DisplayName("METRICS_PROMETHEUS_TLS_CERT and _TLS_KEY are enough for TLS")
  void aCertificateIsEnough() throws Exception {
    var server = serve("none");
    assertThat(status(server, NOBODY)).isEqualTo(200);
    server.stop();
  }

  @Test
  @DisplayName("METRICS_PROMETHEUS_TLS_CLIENT_AUTH=require refuses who shows no certificate")
  void refusesWhoShowsNone() throws Exception {
    var server = serve("require");
    assertThat(status(server, aClient())).isEqualTo(200);
    assertThatThrownBy(() -> status(server, NOBODY)).isInstanceOf(IOException.class);
    server.stop();
  }

  @Test
  @DisplayName("METRICS_PROMETHEUS_TLS_CLIENT_AUTH=optional takes both")
  void takesBoth() throws Exception {
    var server = serve("optional");
    assertThat(status(server, aClient())).isEqualTo(200);
    assertThat(status(server, NOBODY)).isEqualTo(200);
    server.stop();
  }

  /** Shakes hands as one that knows only these groups, and returns the suite that came of it. */
  private String suite(WebServer server, String... groups) throws Exception {
    try (var socket = (SSLSocket) context(NOBODY).getSocketFactory().createSocket("127.0.0.1",
        server.getPort())) {
      socket.setSoTimeout(120_000);
      var parameters = socket.getSSLParameters();
      parameters.setNamedGroups(groups);
      socket.setSSLParameters(parameters);
      socket.startHandshake();
      return socket.getSession().getCipherSuite();
    }
  }

  @Test
  @DisplayName("METRICS_PROMETHEUS_TLS_CURVE_PREFERENCES are the curves that are spoken")
  void speaksTheCurvesThatAreChosen() throws Exception {
    var server = serve("none", "1.3", "", "CurveP384");
    assertThat(suite(server, "secp384r1")).startsWith("TLS_");
    assertThatThrownBy(() -> suite(server, "x25519")).isInstanceOf(SSLException.class);
    server.stop();
  }

  @Test
  @EnabledForJreRange(minVersion = 27)
  void speaksHybridsWithCallersThatKnowNothingElse() throws Exception {
    var server = serve("none", "1.3", "", "X25519MLKEM768,SecP256r1MLKEM768,SecP384r1MLKEM1024");
    for (var hybrid : List.of("X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024")) {
      assertThat(suite(server, hybrid)).startsWith("TLS_");
    }
    assertThatThrownBy(() -> suite(server, "x25519")).isInstanceOf(SSLException.class);
    server.stop();
  }

  @Test
  @DisplayName("METRICS_PROMETHEUS_TLS_CIPHER_SUITES are the suites of TLS 1.2 that are spoken")
  void speaksTheSuitesThatAreChosen() throws Exception {
    var chosen = "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA";
    var server = serve("none", "1.2", chosen, "");
    // it would prefer another
    assertThat(suite(server, "x25519", "secp256r1")).isEqualTo(chosen);
    server.stop();
  }

  @ParameterizedTest(name = "of kind {0}")
  @ValueSource(strings = {"EC", "RSA"})
  void refusesAKeyThatIsNotTheCertificates(String kind) throws Exception {
    var another = kind.equals("EC") ? Certificate.ec() : Certificate.rsa();
    another.write(path("another.crt"), path("tls.key"), "PKCS#8");

    assertThatThrownBy(() -> serve("none")).isInstanceOf(StartupFailedException.class)
        .hasMessage("the port for metrics cannot speak TLS with the files " + path("tls.crt") + ", "
            + path("tls.key") + ": the key does not belong to the certificate");
  }

  @Test
  void namesTheFilesThatItCannotUse() throws Exception {
    Files.writeString(path("tls.key"), "no key");

    assertThatThrownBy(() -> serve("none")).isInstanceOf(StartupFailedException.class)
        .hasMessageStartingWith("the port for metrics cannot speak TLS with the files "
            + path("tls.crt") + ", " + path("tls.key") + ": ");
  }
}
