package dev.activator.kube;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesApiClient.ApiAnswer;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.testing.Authority;
import dev.activator.testing.Certificate;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Base64;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Certificates that are replaced while the process runs, over TLS in both directions. */
class RotatedCertificatesTest {
  private static Authority old;
  private static Authority next;
  private static Certificate first;
  private static Certificate second;
  private final List<java.security.cert.Certificate> callers = new CopyOnWriteArrayList<>();
  private final List<String> hosts = new CopyOnWriteArrayList<>();
  private final List<String> methods = new CopyOnWriteArrayList<>();
  private volatile int status = 200;
  @TempDir
  private Path directory;
  private HttpsServer server = serve(0, old.issue("localhost"));

  RotatedCertificatesTest() throws Exception {}

  /** Once, as each key takes long. */
  @BeforeAll
  static void makeCertificates() throws Exception {
    old = Authority.named("old");
    next = Authority.named("next");
    first = Certificate.rsa();
    second = Certificate.rsa();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  /** Wants a certificate of the caller, and notes it. */
  private HttpsServer serve(int port, Certificate shown) throws Exception {
    var store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setKeyEntry("one", shown.key(), new char[0],
        new X509Certificate[]{shown.certificate()});
    var keys = KeyManagerFactory.getInstance("SunX509");
    keys.init(store, new char[0]);
    var context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), new TrustManager[]{new X509TrustManager() {
      @Override
      public void checkClientTrusted(X509Certificate[] chain, String type) {
        // Any caller is welcome.
      }

      @Override
      public void checkServerTrusted(X509Certificate[] chain, String type) {
        throw new IllegalStateException("it is a server itself");
      }

      @Override
      public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
      }
    }}, null);
    var made = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    made.setHttpsConfigurator(new HttpsConfigurator(context) {
      @Override
      public void configure(HttpsParameters parameters) {
        var all = getSSLContext().getDefaultSSLParameters();
        all.setNeedClientAuth(true);
        parameters.setSSLParameters(all);
      }
    });
    made.createContext("/", exchange -> {
      methods.add(exchange.getRequestMethod());
      hosts.add(exchange.getRequestHeaders().getFirst("Host"));
      callers.add(((HttpsExchange) exchange).getSSLSession().getPeerCertificates()[0]);
      exchange.sendResponseHeaders(status, -1);
      exchange.close();
    });
    made.start();
    return made;
  }

  /** As kubelets and other programs do: another file takes the name. */
  private void replace(String name, String text) throws Exception {
    var written = Files.writeString(directory.resolve(name + ".new"), text);
    Files.move(written, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  private void user(Certificate certificate) throws Exception {
    replace("client.pem", certificate.pem());
    replace("client.key", certificate.keyPem());
  }

  private Path kubeconfig(String cluster, String user) throws Exception {
    replace("config", """
        apiVersion: v1
        kind: Config
        current-context: c
        clusters: [{name: c, cluster: {server: "https://localhost:%d", %s}}]
        users: [{name: u, user: {%s}}]
        contexts: [{name: c, context: {cluster: c, user: u}}]
        """.formatted(server.getAddress().getPort(), cluster, user));
    return directory.resolve("config");
  }

  private static KubernetesApiClient open(Path kubeconfig) {
    return KubernetesClientFactory.open(new ClusterAccess.Kubeconfig(kubeconfig, "", ""),
        KubernetesWriteRateLimiter.UNLIMITED);
  }

  private static int ask(KubernetesApiClient api) throws Exception {
    return api.fetch("version", Duration.ofSeconds(120)).get().status();
  }

  private Path kubeconfigWithFiles() throws Exception {
    replace("ca.pem", old.pem());
    user(first);
    return kubeconfig("certificate-authority: ca.pem",
        "client-certificate: client.pem, client-key: client.key");
  }

  @Test
  void trustsTheAuthorityThatTookThePlaceOfAnother() throws Exception {
    try (var api = open(kubeconfigWithFiles())) {
      assertThat(ask(api)).isEqualTo(200);
      int port = server.getAddress().getPort();
      server.stop(0);
      server = serve(port, next.issue("localhost"));
      assertThatThrownBy(() -> ask(api)).isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(SSLHandshakeException.class);

      replace("ca.pem", next.pem());

      assertThat(ask(api)).isEqualTo(200);
    }
  }

  @Test
  void showsTheNewClientCertificate_alsoWhereAConnectionIsOpen() throws Exception {
    try (var api = open(kubeconfigWithFiles())) {
      ask(api);
      ask(api);
      user(second);
      ask(api);
    }
    assertThat(callers).containsExactly(first.certificate(), first.certificate(),
        second.certificate());
  }

  @ParameterizedTest
  @ValueSource(strings = {"PKCS#8", "SEC 1"})
  void takesAKeyOnAnEllipticCurve(String form) throws Exception {
    var certificate = Certificate.ec();
    replace("ca.pem", old.pem());
    certificate.write(directory.resolve("client.pem"), directory.resolve("client.key"), form);
    var kubeconfig = kubeconfig("certificate-authority: ca.pem",
        "client-certificate: client.pem, client-key: client.key");

    try (var api = open(kubeconfig)) {
      assertThat(ask(api)).isEqualTo(200);
    }

    assertThat(callers).containsExactly(certificate.certificate());
  }

  @Test
  void saysWhichFilesCannotBeUsed_whenAKeyIsNotTheCertificates() throws Exception {
    replace("ca.pem", old.pem());
    replace("client.pem", first.pem());
    replace("client.key", second.keyPem());

    assertThatThrownBy(() -> open(kubeconfig("certificate-authority: ca.pem",
        "client-certificate: client.pem, client-key: client.key")))
        .isInstanceOf(ClusterUnavailableException.class)
        .hasMessageContaining("client certificate")
        .hasMessageContaining("the key does not belong to the certificate");
  }

  @Test
  void requestsGoOnWithTheLastCertificates_whileAKubeconfigIsReadAgain() throws Exception {
    var kubeconfig = kubeconfigWithFiles();
    var access = new ClusterAccess.Kubeconfig(kubeconfig, "", "");
    var reading = new CountDownLatch(1);
    var readable = new CountDownLatch(1);
    var source = new KubernetesApiClient.Source(kubeconfig, () -> {
      reading.countDown();
      await(readable);
      return KubernetesClientFactory.configured(access);
    });
    try (var api = new KubernetesApiClient(KubernetesClientFactory.configured(access), source,
        KubernetesWriteRateLimiter.UNLIMITED)) {
      ask(api);
      // As where a command of the kubeconfig takes long.
      kubeconfig("certificate-authority: ca.pem",
          "client-certificate: ./client.pem, client-key: client.key");
      var first = api.fetch("version", Duration.ofSeconds(120));
      reading.await();

      assertThat(api.fetch("version", Duration.ofSeconds(120)).get(60, TimeUnit.SECONDS).status())
          .isEqualTo(200);

      readable.countDown();
      assertThat(first.get(60, TimeUnit.SECONDS).status()).isEqualTo(200);
    } finally {
      readable.countDown();
    }
  }

  @Test
  void readsAKubeconfigAgain_whoseCommandFailedOnce() throws Exception {
    var kubeconfig = kubeconfigWithFiles();
    var access = new ClusterAccess.Kubeconfig(kubeconfig, "", "");
    var reads = new AtomicInteger();
    var source = new KubernetesApiClient.Source(kubeconfig, () -> {
      if (reads.incrementAndGet() <= 2) {
        throw new ClusterUnavailableException("the command failed");
      }
      return KubernetesClientFactory.configured(access);
    });
    try (var api = new KubernetesApiClient(KubernetesClientFactory.configured(access), source,
        KubernetesWriteRateLimiter.UNLIMITED)) {
      ask(api);
      kubeconfigWithData(second);
      // Tried with the first and the second, then with every second, every fourth and so on.
      for (int i = 0; i < 4; i++) {
        ask(api);
      }
    }
    assertThat(reads).hasValue(3);
    assertThat(callers).containsExactly(first.certificate(), first.certificate(),
        first.certificate(), first.certificate(), second.certificate());
  }

  @Test
  void aWriteThatCouldNotBeSentInTimeIsNotSentLater() throws Exception {
    var kubeconfig = kubeconfigWithFiles();
    var access = new ClusterAccess.Kubeconfig(kubeconfig, "", "");
    var readable = new CountDownLatch(1);
    var source = new KubernetesApiClient.Source(kubeconfig, () -> {
      await(readable);
      return KubernetesClientFactory.configured(access);
    });
    try (var api = new KubernetesApiClient(KubernetesClientFactory.configured(access), source,
        KubernetesWriteRateLimiter.UNLIMITED)) {
      ask(api);
      kubeconfig("certificate-authority: ca.pem",
          "client-certificate: ./client.pem, client-key: client.key");

      var late = api.send("PATCH", "scale", "application/json", "{}", Duration.ofMillis(100));
      assertThatThrownBy(() -> late.get(60, TimeUnit.SECONDS))
          .hasRootCauseInstanceOf(TimeoutException.class);
      readable.countDown();
      ask(api);
      ask(api);

      assertThat(methods).doesNotContain("PATCH");
    } finally {
      readable.countDown();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void keepsTheLastCertificates_whileTheNewOnesCannotBeRead() throws Exception {
    try (var api = open(kubeconfigWithFiles())) {
      ask(api);
      replace("client.pem", "nothing");
      ask(api);
      Files.delete(directory.resolve("client.pem"));
      ask(api);
      user(second);
      ask(api);
    }
    assertThat(callers).containsExactly(first.certificate(), first.certificate(),
        first.certificate(), second.certificate());
  }

  @Test
  void readsCertificatesAgainThatAreInTheKubeconfigItself() throws Exception {
    try (var api = open(kubeconfigWithData(first))) {
      ask(api);
      kubeconfigWithData(second);
      ask(api);
    }
    assertThat(callers).containsExactly(first.certificate(), second.certificate());
  }

  @ParameterizedTest
  @ValueSource(strings = {"api.example", "API.example", "127.1.2.3"})
  void checksTheNameThatTheKubeconfigGivesTheServer(String name) throws Exception {
    replace("ca.pem", old.pem());
    user(first);
    int port = server.getAddress().getPort();
    server.stop(0);
    server = serve(port, old.issue(name));
    var user = "client-certificate: client.pem, client-key: client.key";

    try (var api = open(kubeconfig("certificate-authority: ca.pem", user))) {
      assertThatThrownBy(() -> ask(api)).isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(SSLPeerUnverifiedException.class);
    }
    try (var api = open(
        kubeconfig("certificate-authority: ca.pem, tls-server-name: " + name, user))) {
      assertThat(ask(api)).isEqualTo(200);
    }
    assertThat(hosts).containsExactly("localhost:" + port);
  }

  @Test
  void showsTheCertificateThatAPluginPrinted_andTheNextOneOnceTheFirstWasRefused()
      throws Exception {
    Files.writeString(directory.resolve("plugin"), "cat " + directory.resolve("credential"));
    replace("credential", credential(first));
    var file = kubeconfig("certificate-authority-data: " + base64(old.pem()),
        "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never,"
            + " command: sh, args: [" + directory.resolve("plugin") + "]}");
    try (var api = open(file)) {
      assertThat(ask(api)).isEqualTo(200);
      replace("credential", credential(second));
      assertThat(ask(api)).isEqualTo(200);
      status = 401;
      assertThat(ask(api)).isEqualTo(401);
      status = 200;
      assertThat(ask(api)).isEqualTo(200);
    }
    assertThat(callers).containsExactly(first.certificate(), first.certificate(),
        first.certificate(), second.certificate());
  }

  @Test
  void sendsNothingBeforeTheCertificateOfAPluginIsInUse() throws Exception {
    var ended = directory.resolve("ended");
    Files.writeString(directory.resolve("plugin"),
        "cat " + directory.resolve("credential") + "; touch " + ended);
    replace("credential", credential(first));
    var file = kubeconfig("certificate-authority-data: " + base64(old.pem()),
        "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never,"
            + " command: sh, args: [" + directory.resolve("plugin") + "]}");
    try (var api = open(file)) {
      var answers = new ArrayList<CompletableFuture<ApiAnswer>>();
      answers.add(api.fetch("version", Duration.ofSeconds(120)));
      while (!answers.getFirst().isDone() && answers.size() < 40) {
        if (Files.exists(ended)) {
          answers.add(api.fetch("version", Duration.ofSeconds(120)));
        }
        LockSupport.parkNanos(500_000);
      }
      for (var answer : answers) {
        assertThat(answer.get().status()).isEqualTo(200);
      }
    }
  }

  private static String credential(Certificate certificate) {
    return """
        {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status":
        {"clientCertificateData": "%s", "clientKeyData": "%s"}}
        """.formatted(inJson(certificate.pem()), inJson(certificate.keyPem()));
  }

  private static String inJson(String pem) {
    return pem.replace("\r", "").replace("\n", "\\n");
  }

  private Path kubeconfigWithData(Certificate client) throws Exception {
    return kubeconfig("certificate-authority-data: " + base64(old.pem()),
        "client-certificate-data: " + base64(client.pem()) + ", client-key-data: "
            + base64(client.keyPem()));
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
  }
}
