package dev.activator.kube;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.activator.kube.reflector.ApiErrorText;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.testing.Certificate;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Commands of a kubeconfig that print credentials, each a script that a real shell runs. */
class ExecPluginTest {
  private static final String V1 = "client.authentication.k8s.io/v1";
  private static final Duration LONG = Duration.ofSeconds(120);

  private final List<String> asked = new CopyOnWriteArrayList<>();
  private volatile String accepted = "Bearer one";
  private HttpServer server;
  @TempDir
  private Path directory;

  @BeforeEach
  void start() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", exchange -> {
      var token = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
      asked.add(token);
      exchange.sendResponseHeaders(token.equals(accepted) ? 200 : 401, -1);
      exchange.close();
    });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private KubernetesApiClient open(String cluster, String exec) throws Exception {
    var file = Files.writeString(directory.resolve("config"), """
        apiVersion: v1
        kind: Config
        current-context: c
        clusters: [{name: c, cluster: {server: "http://127.0.0.1:%d"%s}}]
        users: [{name: u, user: {exec: {%s}}}]
        contexts: [{name: c, context: {cluster: c, user: u}}]
        """.formatted(server.getAddress().getPort(), cluster, exec));
    return KubernetesClientFactory.open(new ClusterAccess.Kubeconfig(file, "", ""),
        KubernetesWriteRateLimiter.UNLIMITED);
  }

  /** A plugin that runs a script, which gets the number of its run. */
  private KubernetesApiClient openWithScript(String script) throws Exception {
    Files.writeString(directory.resolve("script"), """
        echo run >> %s
        runs=$(wc -l < %s | tr -d ' ')
        %s""".formatted(directory.resolve("runs"), directory.resolve("runs"), script));
    return open("", "apiVersion: " + V1 + ", interactiveMode: Never, command: sh, args: ["
        + directory.resolve("script") + ", secret-argument]");
  }

  /** In a string of JSON, within a here document. */
  private static String inJson(String pem) {
    return pem.replace("\r", "").replace("\n", "\\\\n");
  }

  private long runs() throws Exception {
    var file = directory.resolve("runs");
    return Files.exists(file) ? Files.readAllLines(file).size() : 0;
  }

  private static String printing(String status) {
    return "cat <<EOF\n{\"kind\": \"ExecCredential\", \"apiVersion\": \"" + V1 + "\", \"status\": {"
        + status + "}}\nEOF\n";
  }

  private static int ask(KubernetesApiClient api) throws Exception {
    return api.fetch("version", LONG).get().status();
  }

  private static String failure(KubernetesApiClient api) {
    try {
      return "answered " + ask(api);
    } catch (ExecutionException e) {
      return new ApiErrorText(api.url()).about("get", "/version", e);
    } catch (Exception e) {
      return String.valueOf(e);
    }
  }

  @Test
  void runsTheCommandOnceForAllRequests() throws Exception {
    try (var api = openWithScript(printing("\"token\": \"one\""))) {
      assertThat(runs()).isZero();
      for (int i = 0; i < 3; i++) {
        assertThat(ask(api)).isEqualTo(200);
      }
    }
    assertThat(runs()).isEqualTo(1);
    assertThat(asked).containsOnly("Bearer one");
  }

  @Test
  void runsItAgainOnceTheApiRefusesTheToken() throws Exception {
    accepted = "Bearer t2";
    try (var api = openWithScript(printing("\"token\": \"t$runs\""))) {
      assertThat(ask(api)).isEqualTo(200);
      assertThat(ask(api)).isEqualTo(200);
    }
    assertThat(runs()).isEqualTo(2);
    assertThat(asked).containsExactly("Bearer t1", "Bearer t2", "Bearer t2");
  }

  @Test
  void obeysAReplacedKubeconfig_evenIfItsCommandFailsAtFirst() throws Exception {
    try (var api = openWithScript(printing("\"token\": \"one\""))) {
      assertThat(ask(api)).isEqualTo(200);
      accepted = "Bearer two";
      openWithScript("""
          if [ "$runs" -lt 3 ]; then exit 3; fi
          """ + printing("\"token\": \"two\"")).close();
      assertThat(failure(api)).contains("exit code 3");
      assertThat(ask(api)).isEqualTo(200);
    }
    assertThat(asked).containsExactly("Bearer one", "Bearer two");
  }

  @Test
  void sendsNothingWithoutCredentials_andLogsTheLastLineOfTheCommand() throws Exception {
    try (var api = openWithScript("""
        if [ "$runs" -lt 3 ]; then
          echo 'looking for a session' >&2
          echo 'the session is over: log in again' >&2
          exit 3
        fi
        """ + printing("\"token\": \"one\""))) {
      assertThat(failure(api)).isEqualTo("no credentials for the Kubernetes API at " + api.url()
          + ": the command 'sh' of the kubeconfig's user failed: it ended with exit code 3:"
          + " the session is over: log in again");
      assertThat(failure(api)).contains("exit code 3");
      assertThat(asked).isEmpty();
      assertThat(ask(api)).isEqualTo(200);
    }
    assertThat(asked).containsExactly("Bearer one");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "echo hello | it printed something else than JSON",
      "echo '{}' | it printed no ExecCredential",
      "echo '{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1beta1\","
          + " \"status\": {\"token\": \"one\"}}' | it answered in another apiVersion than"
          + " client.authentication.k8s.io/v1 of the kubeconfig",
      "exit 0 | it printed no ExecCredential",
      "kill -9 $$ | it ended with exit code 137, and printed no reason"})
  void saysWhatIsWrongWithTheAnswer(String script, String problem) throws Exception {
    try (var api = openWithScript(script)) {
      assertThat(failure(api)).endsWith("failed: " + problem);
    }
    assertThat(asked).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "'' | it printed neither a token nor a certificate",
      "\"token\": \"\" | it printed neither a token nor a certificate",
      "\"clientKeyData\": \"x\" | it printed a key without its certificate",
      "\"clientCertificateData\": \"x\", \"token\": \"one\" | it printed a certificate without its"
          + " key",
      "\"token\": \"one\", \"expirationTimestamp\": \"tomorrow\" | its expirationTimestamp is no"
          + " time of RFC 3339"})
  void saysWhatIsWrongWithTheCredential(String status, String problem) throws Exception {
    try (var api = openWithScript(printing(status))) {
      assertThat(failure(api)).endsWith("failed: " + problem);
    }
  }

  @Test
  void refusesAKeyThatDoesNotBelongToTheCertificate() throws Exception {
    var one = Certificate.ec();
    var other = Certificate.ec();
    try (var api = openWithScript(
        printing("\"clientCertificateData\": \"" + inJson(one.pem())
            + "\", \"clientKeyData\": \"" + inJson(other.keyPem()) + "\""))) {
      assertThat(failure(api)).startsWith("no credentials").contains("does not belong");
      assertThat(failure(api)).startsWith("no credentials");
    }
    assertThat(asked).isEmpty();
  }

  @Test
  void saysHowToInstallACommandThatIsMissing() throws Exception {
    try (var api = open("", "apiVersion: " + V1
        + ", interactiveMode: IfAvailable, command: no-such-plugin, installHint: 'see\n\n the page'")) {
      assertThat(failure(api)).contains("the command 'no-such-plugin'").endsWith("(see the page)");
    }
  }

  @Test
  void describesTheClusterToTheCommand() throws Exception {
    var authority = Certificate.ec().pem();
    Files.writeString(directory.resolve("ca.pem"), authority);
    Files.writeString(directory.resolve("plugin"),
        "printf '%s' \"$KUBERNETES_EXEC_INFO\" > " + directory.resolve("info") + "\n"
            + printing("\"token\": \"one\""));
    var exec = "apiVersion: " + V1 + ", interactiveMode: Never, command: sh, args: ["
        + directory.resolve("plugin") + "]";
    var cluster = ", tls-server-name: api, certificate-authority: ca.pem, extensions: [{name:"
        + " client.authentication.k8s.io/exec, extension: {audience: a, deep: [1, true, null]}}]";

    try (var api = open(cluster, exec)) {
      ask(api);
    }
    assertThat(directory.resolve("info")).content().isEqualTo(
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" + V1
            + "\",\"spec\":{\"interactive\":false}}");

    try (var api = open(cluster, exec + ", provideClusterInfo: true")) {
      ask(api);
    }
    assertThat(directory.resolve("info")).content().isEqualTo(
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" + V1
            + "\",\"spec\":{\"cluster\":{\"server\":"
            + "\"http://127.0.0.1:" + server.getAddress().getPort()
            + "\",\"tls-server-name\":\"api\","
            + "\"certificate-authority-data\":\""
            + Base64.getEncoder().encodeToString(authority.getBytes(UTF_8))
            + "\",\"config\":{\"audience\":\"a\",\"deep\":[1,true,null]}},\"interactive\":false}}");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "command: a | the exec of its user has apiVersion '', which must be"
          + " client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1",
      "command: a, apiVersion: client.authentication.k8s.io/v1alpha1 | the exec of its user has"
          + " apiVersion 'client.authentication.k8s.io/v1alpha1', which must be"
          + " client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1",
      "apiVersion: client.authentication.k8s.io/v1 | the exec of its user has no 'command'",
      "command: a, apiVersion: client.authentication.k8s.io/v1 | the exec of its user has"
          + " interactiveMode '', which must be Never or IfAvailable",
      "command: a, apiVersion: client.authentication.k8s.io/v1beta1, interactiveMode: never | the"
          + " exec of its user has interactiveMode 'never', which must be Never or IfAvailable",
      "command: a, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always | the exec"
          + " of its user has interactiveMode 'Always', but the activator has no terminal: it"
          + " must be Never or IfAvailable",
      "command: a, apiVersion: client.authentication.k8s.io/v1beta1, env: [{value: x}] | an 'env' of"
          + " its user's exec has no name"})
  void refusesAPluginThatIsNotWhole(String exec, String problem) {
    assertThatThrownBy(() -> open("", exec)).isInstanceOf(ClusterUnavailableException.class)
        .hasMessageEndingWith("cannot be used: " + problem);
  }
}
