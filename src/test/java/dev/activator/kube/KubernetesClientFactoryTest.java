package dev.activator.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.config.OutboundProxies;
import dev.activator.testing.Authority;
import dev.activator.testing.TestValues;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KubernetesClientFactoryTest {
  private final FakeApi api = new FakeApi();

  @AfterEach
  void close() {
    api.close();
  }

  private static @Nullable String problemAt(URI url) {
    try (var client = TestValues
        .kubernetesApi(KubernetesClientFactory.configured(new ClusterAccess.At(url)))) {
      return KubernetesClientFactory.problem(client, TestValues.OLDEST_KUBERNETES);
    }
  }

  @Test
  void hasNoProblemWithANewEnoughApi() {
    api.hasVersion("v1.34.0-alpha.1");

    assertThat(problemAt(api.url())).isNull();
  }

  @Test
  void refusesAnApiThatIsTooOld() {
    api.hasVersion("v1.33.4");

    assertThat(problemAt(api.url())).isEqualTo("the Kubernetes API at " + api.url()
        + "/ is v1.33.4, but must be at least v1.34.0");
  }

  @Test
  void saysThatWeAreUnknown() {
    api.refuses("/version", 401);

    assertThat(problemAt(api.url())).isEqualTo("the Kubernetes API at " + api.url()
        + "/ rejects the activator's credentials (401, on get /version)");
  }

  @Test
  void saysWhereNoServerAnswers() {
    assertThat(problemAt(URI.create("http://127.0.0.1:1"))).isEqualTo(
        "cannot reach the Kubernetes API at http://127.0.0.1:1/: connection refused");
  }

  @Test
  void doesNotTakeSomethingElseForAnApi() {
    api.hasVersion("2.4.1 (Unix)");

    assertThat(problemAt(api.url())).isEqualTo("the server at " + api.url()
        + "/ is no Kubernetes API: not a version of Kubernetes: '2.4.1 (Unix)'");
  }

  private static final String KUBECONFIG = """
      apiVersion: v1
      kind: Config
      clusters:
      - {name: one, cluster: {server: "http://127.0.0.1:1"}}
      - {name: two, cluster: {server: "http://127.0.0.1:2"}}
      contexts: [{name: here, context: {cluster: one, user: me}}]
      current-context: here
      users: [{name: me, user: {token: secret}}]
      """;

  private static Config configured(Path directory, String server, String cluster)
      throws IOException {
    var file = Files.writeString(directory.resolve("config"), KUBECONFIG);
    return KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, server, cluster));
  }

  @Test
  @DisplayName("-server and -cluster stand in for what the kubeconfig says")
  void takesAnotherServerOrClusterThanTheKubeconfigs(@TempDir Path directory) throws IOException {
    assertThat(configured(directory, "", "").getMasterUrl()).isEqualTo("http://127.0.0.1:1/");
    assertThat(configured(directory, "", "two").getMasterUrl()).isEqualTo("http://127.0.0.1:2/");
    assertThat(configured(directory, "http://127.0.0.1:3/", "two").getMasterUrl())
        .isEqualTo("http://127.0.0.1:3/");
  }

  private static Config through(Path directory, String kubeconfig, String server)
      throws IOException {
    var file = Files.writeString(directory.resolve("config"), kubeconfig);
    return KubernetesClientFactory.configured(
        new ClusterAccess.Through(new ClusterAccess.Kubeconfig(file, server, ""),
            OutboundProxies.of("http://plain:1", "http://secure:2", "10.0.0.0/8")));
  }

  @Test
  @DisplayName("HTTP_PROXY, HTTPS_PROXY and NO_PROXY count on the way to the API")
  void takesTheProxyThatGoWouldTake(@TempDir Path directory) throws IOException {
    var https = through(directory, KUBECONFIG, "https://api.example:6443/");
    assertThat(https.getHttpsProxy()).isEqualTo("http://secure:2");
    assertThat(through(directory, KUBECONFIG, "http://api.example/").getHttpProxy())
        .isEqualTo("http://plain:1");
    assertThat(through(directory, KUBECONFIG, "https://10.0.0.1/").getHttpsProxy()).isNull();
    assertThat(through(directory, KUBECONFIG, "").getHttpProxy()).isNull();
    // what the file itself says wins
    var own = KUBECONFIG.replace("{server: \"http://127.0.0.1:1\"}",
        "{server: \"https://api.example\", proxy-url: \"http://own:3\"}");
    assertThat(through(directory, own, "").getHttpsProxy()).isEqualTo("http://own:3");
  }

  @Test
  void takesTheProxyOfTheClusterThatStandsInForTheKubeconfigs(@TempDir Path directory)
      throws IOException {
    var file = Files.writeString(directory.resolve("config"), KUBECONFIG
        .replace("{server: \"http://127.0.0.1:1\"}",
            "{server: \"https://one.example\", proxy-url: \"http://first:1\"}")
        .replace("{server: \"http://127.0.0.1:2\"}",
            "{server: \"https://two.example\", proxy-url: \"http://second:2\"}"));

    var config = KubernetesClientFactory.configured(new ClusterAccess.Through(
        new ClusterAccess.Kubeconfig(file, "", "two"), OutboundProxies.of("", "", "")));

    assertThat(config.getHttpsProxy()).isEqualTo("http://second:2");
  }

  @Test
  void findsCertificatesNextToTheKubeconfig(@TempDir Path directory) throws IOException {
    var file = Files.writeString(directory.resolve("config"), """
        {"current-context": "here", "clusters": [{"name": "one", "cluster": {
           "server": "https://api.example", "certificate-authority": "pki/ca.crt",
           "insecure-skip-tls-verify": false}}],
         "contexts": [{"name": "here", "context": {"cluster": "one", "user": "me"}}],
         "users": [{"name": "me", "user": {"client-certificate": "me.crt", "client-key": "me.key",
           "username": "me", "password": "secret"}}]}""");
    Files.writeString(directory.resolve("me.key"), "-----BEGIN EC PRIVATE KEY-----");

    var config = KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", ""));

    assertThat(config.getCaCertFile()).isEqualTo(directory.resolve("pki/ca.crt").toString());
    assertThat(config.getClientCertFile()).isEqualTo(directory.resolve("me.crt").toString());
    assertThat(config.getClientKeyFile()).isEqualTo(directory.resolve("me.key").toString());
    assertThat(config.getClientKeyAlgo()).isEqualTo("EC");
    assertThat(config.isTrustCerts()).isFalse();
    assertThat(config.getUsername()).isEqualTo("me");
    assertThat(config.getPassword()).isEqualTo("secret");
  }

  @Test
  void saysThatTheUsersCertificateCannotBeRead(@TempDir Path directory) throws IOException {
    var file = Files.writeString(directory.resolve("config"), KUBECONFIG.replace("token: secret",
        "client-certificate: no.crt, client-key: config"));

    assertThatThrownBy(
        () -> KubernetesClientFactory.open(new ClusterAccess.Kubeconfig(file, "", ""),
            KubernetesWriteRateLimiter.UNLIMITED))
        .isInstanceOf(ClusterUnavailableException.class)
        .hasMessageContaining(directory.resolve("no.crt").toString());
  }

  @Test
  void readsTheFileOfAnAuthorityWhoseDataIsEmpty(@TempDir Path directory) throws Exception {
    var file = Files.writeString(directory.resolve("config"), KUBECONFIG.replace(
        "{server: \"http://127.0.0.1:1\"}", "{server: \"https://127.0.0.1:1\","
            + " certificate-authority-data: '', certificate-authority: ca.crt}"));
    Files.writeString(directory.resolve("ca.crt"), Authority.named("cluster").pem());

    KubernetesClientFactory.open(new ClusterAccess.Kubeconfig(file, "", ""),
        KubernetesWriteRateLimiter.UNLIMITED).close();
  }

  @Test
  void trustsAnyCertificateHoweverThatIsSpelled(@TempDir Path directory) throws IOException {
    var file = Files.writeString(directory.resolve("config"), KUBECONFIG.replace(
        "{server: \"http://127.0.0.1:1\"}",
        "{server: \"https://api.example\", insecure-skip-tls-verify: True}"));

    assertThat(
        KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", ""))
            .isTrustCerts())
        .isTrue();
  }

  @Test
  void verifiesTheCertificateOfAnotherClusterThanAnInsecureOne(@TempDir Path directory)
      throws IOException {
    var file = Files.writeString(directory.resolve("config"), KUBECONFIG.replace(
        "{server: \"http://127.0.0.1:1\"}",
        "{server: \"https://api.example\", insecure-skip-tls-verify: true}"));

    var config = KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", "two"));

    assertThat(config.isTrustCerts()).isFalse();
    assertThat(config.isDisableHostnameVerification()).isFalse();
  }

  @Test
  void readsTheFirstDocumentOfAKubeconfig(@TempDir Path directory) throws IOException {
    var file = Files.writeString(directory.resolve("config"),
        "---\n" + KUBECONFIG + "---\ncurrent-context: there\n");

    assertThat(
        KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", ""))
            .getMasterUrl())
        .isEqualTo("http://127.0.0.1:1/");
  }

  @Test
  void runsACommandBesideTheKubeconfig(@TempDir Path directory) throws IOException {
    // A link: a file that was just written may still be open in a process that another test starts.
    Files.createSymbolicLink(directory.resolve("token"), Path.of("/bin/sh"));
    var script = Files.writeString(directory.resolve("script"),
        """
            echo "{\\"kind\\": \\"ExecCredential\\", \\"apiVersion\\": \\"client.authentication.k8s.io/v1\\",
                \\"status\\": {\\"token\\": \\"$ANSWER-$1\\"}}"
            """);
    var file = Files.writeString(directory.resolve("config"), KUBECONFIG.replace("token: secret",
        "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never,"
            + " command: ./token, args: [" + script
            + ", now], env: [{name: ANSWER, value: made}, {name: NONE, value: ''}]}"));

    var config = KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", ""));

    assertThat(config.getOauthTokenProvider().getToken()).isEqualTo("made-now");
  }

  @Test
  void actsAsAnotherUser(@TempDir Path directory) throws IOException {
    var file = Files.writeString(directory.resolve("config"), KUBECONFIG.replace("token: secret",
        "token: secret, as: robot, as-groups: [a, b], as-user-extra: {example.com/the scope: [x, y]}"));

    var config = KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", ""));

    assertThat(config.getImpersonateUsername()).isEqualTo("robot");
    assertThat(config.getImpersonateGroups()).containsExactly("a", "b");
    assertThat(config.getImpersonateExtras()).isEqualTo(
        Map.of("example.com%2Fthe%20scope", List.of("x", "y")));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "as: robot, as-uid: u | its user has 'as-uid', which is not supported",
      "as-groups: [a] | its user has 'as-groups' or 'as-user-extra', but no 'as'",
      "as: '', as-user-extra: {a: [b]} | its user has 'as-groups' or 'as-user-extra', but no 'as'",
      "tokenFile: /no/such | there is no token in its tokenFile /no/such"})
  void refusesAUserItCannotBe(String user, String problem, @TempDir Path directory)
      throws IOException {
    var file = Files.writeString(directory.resolve("config"),
        KUBECONFIG.replace("token: secret", user));

    assertThatThrownBy(
        () -> KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", "")))
        .hasMessage("the kubeconfig at " + file + " cannot be used: " + problem);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "current-context: here | current-context: there | it has no context 'there'",
      "current-context: here | current-context: '' | it names no context",
      "{cluster: one, user: me} | {cluster: 1, user: me} | it has no cluster '1'",
      "{cluster: one, user: me} | {user: me} | it names no cluster",
      "{cluster: one, user: me} | {cluster: one, user: you} | it has no user 'you'",
      "{name: me, user: | {user: | it has no user 'me'",
      "server: \"http://127.0.0.1:1\" | server: '' | its cluster 'one' has no server",
      "{server: \"http://127.0.0.1:1\"} | {server: 'https://a', certificate-authority: ca.crt,"
          + " insecure-skip-tls-verify: true} | its cluster 'one' has a certificate authority and"
          + " 'insecure-skip-tls-verify: true'",
      "{server: \"http://127.0.0.1:1\"} | {server: 'https://a', certificate-authority-data: YQ==,"
          + " insecure-skip-tls-verify: True} | its cluster 'one' has a certificate authority and"
          + " 'insecure-skip-tls-verify: true'"})
  void refusesAContextThatIsNotWhole(String field, String changed, String problem,
      @TempDir Path directory) throws IOException {
    var file = Files.writeString(directory.resolve("config"), KUBECONFIG.replace(field, changed));

    assertThatThrownBy(
        () -> KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", "")))
        .hasMessage("the kubeconfig at " + file + " cannot be used: " + problem);
  }

  @Test
  void takesAContextWithoutAUser(@TempDir Path directory) throws IOException {
    var file = Files.writeString(directory.resolve("config"),
        KUBECONFIG.replace("{cluster: one, user: me}", "{cluster: one}"));

    assertThat(
        KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", ""))
            .getAutoOAuthToken())
        .isNull();
  }

  @Test
  void takesAServerForAClusterThatHasNone(@TempDir Path directory) throws IOException {
    var file = Files.writeString(directory.resolve("config"),
        KUBECONFIG.replace("{server: \"http://127.0.0.1:1\"}", "{}"));

    assertThat(
        KubernetesClientFactory
            .configured(new ClusterAccess.Kubeconfig(file, "http://127.0.0.1:3", ""))
            .getMasterUrl())
        .isEqualTo("http://127.0.0.1:3/");
  }

  @Test
  void takesAServerWhereThereIsNoContext(@TempDir Path directory) throws IOException {
    var file = Files.writeString(directory.resolve("config"),
        KUBECONFIG.replace("current-context: here", "current-context: ''"));

    var config = KubernetesClientFactory
        .configured(new ClusterAccess.Kubeconfig(file, "http://127.0.0.1:3", ""));

    assertThat(config.getMasterUrl()).isEqualTo("http://127.0.0.1:3/");
    assertThat(config.getAutoOAuthToken()).isNull();
  }

  @Test
  void takesAnEmptyFieldOfAUserAsAbsent(@TempDir Path directory) throws IOException {
    var file = Files.writeString(directory.resolve("config"), KUBECONFIG.replace("token: secret",
        "token: secret, tokenFile: '', as-uid: ''"));

    var config = KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", ""));

    assertThat(config.getOauthTokenProvider()).isNull();
    assertThat(config.getAutoOAuthToken()).isEqualTo("secret");
  }

  @Test
  void doesNotReadObjectsOfAllKindsForAKubeconfig(@TempDir Path directory) throws Exception {
    var file = Files.writeString(directory.resolve("config"), KUBECONFIG);
    var read = Path.of(ProcessHandle.current().info().command().orElseThrow());
    var process = new ProcessBuilder(read.toString(), "-Xlog:class+load", "-cp",
        System.getProperty("java.class.path"), ReadsKubeconfig.class.getName(), file.toString())
        .redirectErrorStream(true).start();
    var loaded = new String(process.getInputStream().readAllBytes());

    assertThat(process.waitFor()).isZero();
    assertThat(loaded).contains("io.fabric8.kubernetes.api.model.AuthInfo")
        .doesNotContain("io.fabric8.kubernetes.api.model.apps.")
        .doesNotContain("com.fasterxml.jackson.databind.ObjectMapper")
        .doesNotContain("tools.jackson.databind.");
  }

  static final class ReadsKubeconfig {
    public static void main(String[] args) {
      KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(Path.of(args[0]), "", ""));
    }
  }

  @Test
  void saysWhereAKubeconfigIsNoYamlWithoutQuotingIt(@TempDir Path directory) throws IOException {
    var file = Files.writeString(directory.resolve("config"),
        "users:\n- name: u\n  user:\n    token: s3cret: x\n");

    assertThatThrownBy(
        () -> KubernetesClientFactory.configured(new ClusterAccess.Kubeconfig(file, "", "")))
        .hasMessage("the kubeconfig at " + file
            + " cannot be used: it is not YAML: look at line 4");
  }

  @Test
  void namesAClusterThatTheKubeconfigDoesNotHave(@TempDir Path directory) {
    assertThatThrownBy(() -> configured(directory, "", "three"))
        .isInstanceOf(ClusterUnavailableException.class)
        .hasMessage("the kubeconfig at " + directory.resolve("config")
            + " cannot be used: it has no cluster 'three'");
  }
}
