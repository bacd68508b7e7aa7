package dev.activator.app;

import static dev.activator.app.BoundSettings.bind;
import static dev.activator.app.BoundSettings.environment;
import static dev.activator.app.BoundSettings.line;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.settings.ClusterProperties.ConfigMapProperties;
import dev.activator.settings.ClusterProperties;
import dev.activator.settings.OutboundProxyProperties;
import dev.activator.settings.IdentityProperties;
import dev.activator.settings.MetricsServerProperties;
import dev.activator.settings.ProxyServerProperties.PortProperties;
import dev.activator.settings.ProxyServerProperties.ReadinessProperties;
import dev.activator.settings.ProxyServerProperties;
import dev.activator.settings.CallerTlsProperties;
import dev.activator.settings.StandaloneProperties;
import dev.activator.settings.UpstreamProperties.ProbeProperties;
import dev.activator.settings.UpstreamProperties;
import dev.activator.kube.ClusterAccess;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.ConfigurationProperties;

/** Every variable of Knative's activator: its default, its effect, and what a bad value says. */
class EnvironmentTest {
  @TempDir
  Path directory;

  private static IdentityProperties identity(Map<String, String> variables) {
    return bind("activator.identity", IdentityProperties.class, variables);
  }

  private static ClusterProperties cluster(Map<String, String> variables) {
    return bind("activator.cluster", ClusterProperties.class, variables);
  }

  private static MetricsServerProperties metrics(Map<String, String> variables) {
    return bind("activator.metrics-server", MetricsServerProperties.class, variables);
  }

  @Test
  @DisplayName("POD_NAME, POD_IP, SYSTEM_NAMESPACE say who we are")
  void whoWeAre() {
    var identity = identity(Map.of());
    assertThat(identity.podName()).isEqualTo("activator-1");
    assertThat(identity.podIp()).isEqualTo("10.0.0.1");
    assertThat(identity.systemNamespace()).isEqualTo("knative-serving");
  }

  @ParameterizedTest(name = "{0} is required")
  @ValueSource(strings = {"POD_NAME", "POD_IP", "SYSTEM_NAMESPACE"})
  void namesTheOneThatIsMissing(String variable) {
    assertThat(line("activator.identity", IdentityProperties.class, Map.of(variable, "")))
        .startsWith("the environment does not have " + variable + ",");
  }

  @Test
  @DisplayName("CLUSTER_DOMAIN wins over the resolver")
  void clusterDomain() {
    assertThat(identity(Map.of("CLUSTER_DOMAIN", "example.org")).clusterDomain())
        .isEqualTo("example.org");
  }

  @Test
  @DisplayName("MAX_IDLE_PROXY_CONNS and MAX_IDLE_PROXY_CONNS_PER_HOST")
  void idleConnections() {
    assertThat(bind("activator.upstream", UpstreamProperties.class, Map.of()))
        .isEqualTo(new UpstreamProperties(1000, 100));
    assertThat(bind("activator.upstream", UpstreamProperties.class,
        Map.of("MAX_IDLE_PROXY_CONNS", "7", "MAX_IDLE_PROXY_CONNS_PER_HOST", "3")))
        .isEqualTo(new UpstreamProperties(7, 3));
  }

  @Test
  @DisplayName("PROBE_TIMEOUT and PROBE_FREQUENCY are durations of Go")
  void probes() {
    var usual = bind("activator.probe", ProbeProperties.class, Map.of());
    assertThat(usual.timeoutDuration()).isEqualTo(Duration.ofMillis(300));
    assertThat(usual.frequencyDuration()).isEqualTo(Duration.ofMillis(200));
    var set = bind("activator.probe", ProbeProperties.class,
        Map.of("PROBE_TIMEOUT", "1m30s", "PROBE_FREQUENCY", "1.5s"));
    assertThat(set.timeoutDuration()).isEqualTo(Duration.ofSeconds(90));
    assertThat(set.frequencyDuration()).isEqualTo(Duration.ofMillis(1500));
  }

  @Test
  @DisplayName("CONFIG_LOGGING_NAME and CONFIG_OBSERVABILITY_NAME")
  void namesOfConfigMaps() {
    assertThat(bind("activator.config-maps", ConfigMapProperties.class, Map.of()))
        .isEqualTo(new ConfigMapProperties("config-logging", "config-observability",
            "config-waiting-page"));
    assertThat(bind("activator.config-maps", ConfigMapProperties.class,
        Map.of("CONFIG_LOGGING_NAME", "l", "CONFIG_OBSERVABILITY_NAME", "o")))
        .isEqualTo(new ConfigMapProperties("l", "o", "config-waiting-page"));
  }

  @Test
  @DisplayName("KUBERNETES_MIN_VERSION, KUBECONFIG, KUBE_API_QPS, KUBE_API_BURST")
  void theApi() {
    var usual = cluster(Map.of());
    assertThat(usual.minVersion()).isEqualTo("v1.34.0");
    assertThat(usual.kubeconfig()).isEmpty();
    assertThat(usual.apiQps()).isZero();
    assertThat(usual.apiBurst()).isZero();
    var set = cluster(Map.of("KUBERNETES_MIN_VERSION", "1.30", "KUBECONFIG", "/k",
        "KUBE_API_QPS", "2.5", "KUBE_API_BURST", "9"));
    assertThat(set.minVersion()).isEqualTo("1.30");
    assertThat(set.kubeconfig()).isEqualTo("/k");
    assertThat(set.apiQps()).isEqualTo(2.5);
    assertThat(set.apiBurst()).isEqualTo(9);
  }

  @Test
  @DisplayName("ACTIVATOR_TLS_MIN_VERSION and _MAX_VERSION")
  void tlsVersions() {
    assertThat(bind("activator.tls", CallerTlsProperties.class, Map.of()).minVersion())
        .isEqualTo("1.3");
    assertThat(bind("activator.tls", CallerTlsProperties.class,
        Map.of("ACTIVATOR_TLS_MIN_VERSION", "1.2")).minVersion()).isEqualTo("1.2");
  }

  @Test
  @DisplayName("empty ACTIVATOR_TLS_* are as good as none")
  void tlsLeftEmpty() {
    assertThat(bind("activator.tls", CallerTlsProperties.class,
        Map.of("ACTIVATOR_TLS_MIN_VERSION", "", "ACTIVATOR_TLS_MAX_VERSION", "",
            "ACTIVATOR_TLS_CIPHER_SUITES", "", "ACTIVATOR_TLS_CURVE_PREFERENCES", "")))
        .isEqualTo(bind("activator.tls", CallerTlsProperties.class, Map.of()));
  }

  @Test
  @DisplayName("ACTIVATOR_TLS_CIPHER_SUITES and _CURVE_PREFERENCES")
  void tlsSuitesAndCurves() {
    var server = bind("activator.tls", CallerTlsProperties.class,
        Map.of("ACTIVATOR_TLS_CIPHER_SUITES", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            "ACTIVATOR_TLS_CURVE_PREFERENCES", "P-256,X25519"))
        .server();
    assertThat(server.cipherSuites()).contains("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
    assertThat(server.groups()).containsExactly("secp256r1", "x25519");
  }

  @Test
  @DisplayName("METRICS_PROMETHEUS_* say where metrics are fetched, and how")
  void metricsServer() throws IOException {
    assertThat(metrics(Map.of())).isEqualTo(
        new MetricsServerProperties("", 9090, "", "", "none", "", "1.3", "1.3", "", ""));
    assertThat(environment(BoundSettings.REQUIRED).getProperty("server.port")).isEqualTo("9090");
    assertThat(environment(Map.of("METRICS_PROMETHEUS_PORT", "9095")).getProperty("server.port"))
        .isEqualTo("9095");
    var file = Files.writeString(directory.resolve("pem"), "pem").toString();
    var set = metrics(Map.of("METRICS_PROMETHEUS_HOST", "127.0.0.1", "METRICS_PROMETHEUS_PORT",
        "9095", "METRICS_PROMETHEUS_TLS_CERT", file, "METRICS_PROMETHEUS_TLS_KEY", file,
        "METRICS_PROMETHEUS_TLS_CLIENT_AUTH", "Require", "METRICS_PROMETHEUS_TLS_CLIENT_CA_FILE",
        file, "METRICS_PROMETHEUS_TLS_MIN_VERSION", "1.2"));
    assertThat(set).isEqualTo(new MetricsServerProperties("127.0.0.1", 9095, file, file,
        "require", file, "1.2", "1.3", "", ""));
    assertThat(set.isEncrypted()).isTrue();
    assertThat(set.tls().versions()).containsExactly("TLSv1.2", "TLSv1.3");
  }

  @Test
  @DisplayName("METRICS_PROMETHEUS_TLS_CIPHER_SUITES and _CURVE_PREFERENCES")
  void metricsSuitesAndCurves() {
    var tls = metrics(Map.of("METRICS_PROMETHEUS_TLS_CIPHER_SUITES",
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "METRICS_PROMETHEUS_TLS_CURVE_PREFERENCES",
        "CurveP384,X25519")).tls();
    assertThat(tls.cipherSuites()).contains("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
    assertThat(tls.groups()).containsExactly("secp384r1", "x25519");
  }

  @Test
  @DisplayName("HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in capitals or not")
  void proxies() {
    var proxies = bind("activator.egress", OutboundProxyProperties.class, Map.of("HTTP_PROXY",
        "http://one:1", "http_proxy", "http://other:1", "https_proxy", "http://two:2",
        "NO_PROXY", "10.0.0.0/8,.svc")).proxies();
    assertThat(proxies.http()).hasToString("http://one:1");
    assertThat(proxies.https()).hasToString("http://two:2");
    assertThat(proxies.exceptions()).containsExactly("10.0.0.0/8", ".svc");
  }

  @ParameterizedTest(name = "{0}= is as good as none")
  @ValueSource(strings = {"CLUSTER_DOMAIN", "PROBE_TIMEOUT", "PROBE_FREQUENCY",
      "CONFIG_LOGGING_NAME", "CONFIG_OBSERVABILITY_NAME", "KUBERNETES_MIN_VERSION", "KUBECONFIG",
      "KUBE_API_QPS", "KUBE_API_BURST", "ACTIVATOR_TLS_MIN_VERSION",
      "ACTIVATOR_TLS_MAX_VERSION", "ACTIVATOR_TLS_CIPHER_SUITES",
      "ACTIVATOR_TLS_CURVE_PREFERENCES", "METRICS_PROMETHEUS_HOST", "METRICS_PROMETHEUS_PORT",
      "METRICS_PROMETHEUS_TLS_CERT", "METRICS_PROMETHEUS_TLS_KEY",
      "METRICS_PROMETHEUS_TLS_CLIENT_AUTH", "METRICS_PROMETHEUS_TLS_CLIENT_CA_FILE",
      "METRICS_PROMETHEUS_TLS_MIN_VERSION", "METRICS_PROMETHEUS_TLS_MAX_VERSION",
      "METRICS_PROMETHEUS_TLS_CIPHER_SUITES", "METRICS_PROMETHEUS_TLS_CURVE_PREFERENCES",
      "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"})
  void anEmptyVariableIsAsGoodAsNone(String variable) {
    assertThat(allBound(Map.of(variable, ""))).isEqualTo(allBound(Map.of()));
  }

  private static Map<String, String> allBound(Map<String, String> variables) {
    return EffectiveProperties.of(ALL.stream().map(record -> bind(
        record.getAnnotation(ConfigurationProperties.class).value(), record, variables)).toList());
  }

  private static final List<Class<? extends Record>> ALL = List.of(IdentityProperties.class,
      ClusterProperties.class, UpstreamProperties.class, ProbeProperties.class,
      ConfigMapProperties.class, CallerTlsProperties.class,
      MetricsServerProperties.class, OutboundProxyProperties.class);

  @Test
  void aPropertyThatIsSetToNothingByAVariableIsAsGoodAsNone() {
    assertThat(bind("activator.port", PortProperties.class, Map.of("ACTIVATOR_PORT_HTTP1", "")))
        .isEqualTo(bind("activator.port", PortProperties.class, Map.of()));
  }

  @ParameterizedTest(name = "{0}={1}")
  @CsvSource(delimiter = '|', value = {
      "PROBE_TIMEOUT | soon | PROBE_TIMEOUT is 'soon', but must be a duration such as 300ms, more than 0",
      "PROBE_TIMEOUT | 300 | PROBE_TIMEOUT is '300', but must be a duration such as 300ms, more than 0",
      "PROBE_TIMEOUT | 0 | PROBE_TIMEOUT is '0', but must be a duration such as 300ms, more than 0",
      "PROBE_FREQUENCY | -1s | PROBE_FREQUENCY is '-1s', but must be a duration such as 300ms, more than 0",
      "MAX_IDLE_PROXY_CONNS | many | MAX_IDLE_PROXY_CONNS is 'many', but must be a whole number",
      "MAX_IDLE_PROXY_CONNS | -1 | MAX_IDLE_PROXY_CONNS is '-1', but must be a whole number, 0 or more",
      "MAX_IDLE_PROXY_CONNS_PER_HOST | 1.5 | MAX_IDLE_PROXY_CONNS_PER_HOST is '1.5', but must be a whole number",
      "MAX_IDLE_PROXY_CONNS_PER_HOST | -2 | MAX_IDLE_PROXY_CONNS_PER_HOST is '-2', but must be a whole number, 0 or more",
      "KUBERNETES_MIN_VERSION | new | KUBERNETES_MIN_VERSION is 'new', but must be a version such as v1.34.0",
      "KUBE_API_QPS | fast | KUBE_API_QPS is 'fast', but must be a number",
      "KUBE_API_QPS | -1 | KUBE_API_QPS is '-1.0', but must be a number, 0 or more",
      "KUBE_API_BURST | big | KUBE_API_BURST is 'big', but must be a whole number",
      "KUBE_API_BURST | -1 | KUBE_API_BURST is '-1', but must be a whole number, 0 or more",
      "METRICS_PROMETHEUS_PORT | x | METRICS_PROMETHEUS_PORT is 'x', but must be a whole number",
      "METRICS_PROMETHEUS_PORT | 80 | METRICS_PROMETHEUS_PORT is '80', but must be 1024 to 65535, or 0 for a free one",
      "METRICS_PROMETHEUS_PORT | 65536 | METRICS_PROMETHEUS_PORT is '65536', but must be 1024 to 65535, or 0 for a free one",
      "METRICS_PROMETHEUS_TLS_CERT | /c | METRICS_PROMETHEUS_TLS_CERT is '/c', but METRICS_PROMETHEUS_TLS_KEY is not set",
      "METRICS_PROMETHEUS_TLS_KEY | /k | METRICS_PROMETHEUS_TLS_KEY is '/k', but METRICS_PROMETHEUS_TLS_CERT is not set",
      "METRICS_PROMETHEUS_TLS_CLIENT_AUTH | maybe | METRICS_PROMETHEUS_TLS_CLIENT_AUTH is 'maybe', but must be none, optional or require",
      "METRICS_PROMETHEUS_TLS_CLIENT_AUTH | require | METRICS_PROMETHEUS_TLS_CLIENT_AUTH is 'require', but METRICS_PROMETHEUS_TLS_CERT is not set",
      "METRICS_PROMETHEUS_TLS_CLIENT_CA_FILE | /a | METRICS_PROMETHEUS_TLS_CLIENT_CA_FILE is '/a', but METRICS_PROMETHEUS_TLS_CLIENT_AUTH is none",
      "METRICS_PROMETHEUS_TLS_MIN_VERSION | 1.1 | METRICS_PROMETHEUS_TLS_MIN_VERSION is '1.1', but must be one of 1.2, 1.3",
      "METRICS_PROMETHEUS_TLS_MAX_VERSION | 1.2 | METRICS_PROMETHEUS_TLS_MIN_VERSION is '1.3', but METRICS_PROMETHEUS_TLS_MAX_VERSION is 1.2",
      "METRICS_PROMETHEUS_TLS_CURVE_PREFERENCES | P-255 | METRICS_PROMETHEUS_TLS_CURVE_PREFERENCES is 'P-255', but must be one of CurveP256, CurveP384, CurveP521, P-256, P-384, P-521, X25519, X25519MLKEM768, SecP256r1MLKEM768, SecP384r1MLKEM1024",
      "MAX_IDLE_PROXY_CONNS | '' | MAX_IDLE_PROXY_CONNS is '', but must be a whole number",
      "MAX_IDLE_PROXY_CONNS_PER_HOST | '' | MAX_IDLE_PROXY_CONNS_PER_HOST is '', but must be a whole number",
      "HTTPS_PROXY | http://me:s3cr%et@proxy:3128 | HTTPS_PROXY is 'http://proxy:3128', but must be a URL such as http://proxy:3128",
      "HTTPS_PROXY | a b | HTTPS_PROXY is 'a b', but must be a URL such as http://proxy:3128",
      "ACTIVATOR_TLS_MIN_VERSION | 1.1 | ACTIVATOR_TLS_MIN_VERSION is '1.1', but must be one of 1.2, 1.3",
      "ACTIVATOR_TLS_MAX_VERSION | 1.2 | ACTIVATOR_TLS_MIN_VERSION is '1.3', but ACTIVATOR_TLS_MAX_VERSION is 1.2"})
  void saysInOneLineWhichIsWrong(String variable, String value, String expected) {
    var record = RECORDS.entrySet().stream()
        .filter(entry -> variable.startsWith(entry.getKey())).findFirst().orElseThrow()
        .getValue();
    assertThat(line(record.getAnnotation(
        org.springframework.boot.context.properties.ConfigurationProperties.class).value(), record,
        Map.of(variable, value))).isEqualTo(expected);
  }

  private static final Map<String, Class<?>> RECORDS = Map.of("PROBE", ProbeProperties.class,
      "MAX_IDLE", UpstreamProperties.class, "KUBE", ClusterProperties.class, "METRICS",
      MetricsServerProperties.class, "ACTIVATOR_TLS", CallerTlsProperties.class, "HTTPS_PROXY",
      OutboundProxyProperties.class);

  @ParameterizedTest(name = "{0}={1}")
  @CsvSource(delimiter = '|', value = {
      "ACTIVATOR_READINESS_AUTOSCALER | sometimes | activator.readiness | activator.readiness.autoscaler is 'sometimes', but must be one of startup, always, never",
      "ACTIVATOR_SERVING_HELDBYTES | lots | activator.serving | activator.serving.held-bytes is 'lots', but must be a size such as 64MB",
      "ACTIVATOR_SERVING_DRAINTIMEOUT | soon | activator.serving | activator.serving.drain-timeout is 'soon', but must be a duration such as 30s",
      "ACTIVATOR_SERVING_DRAINTIMEOUT | -90s | activator.serving | activator.serving.drain-timeout is -90s, but must not be negative",
      "ACTIVATOR_SERVING_HELDBYTES | 64 | activator.serving | activator.serving.held-bytes is 64B, but must be at least 1MB",
      "ACTIVATOR_SERVING_UNREADBYTES | 1000KB | activator.serving | activator.serving.unread-bytes is 1024000B, but must be at least 1MB",
      "ACTIVATOR_STANDALONE_SERVICE | a b | activator.standalone | activator.standalone.service is 'a b', but must be the name of a Service",
      "ACTIVATOR_STANDALONE_NAMESPACES | 'shop,Blog' | activator.standalone | activator.standalone.namespaces is 'Blog', but must be the name of a namespace",
      "ACTIVATOR_STANDALONE_PROXYPROTOCOLFROM | '10.0.0.0/8,10.0.0.0/33' | activator.standalone | activator.standalone.proxy-protocol-from is '10.0.0.0/33', but must be an address or a network such as 10.0.0.0/8",
      "CONFIG_LOGGING_NAME | config_logging | activator.config-maps | CONFIG_LOGGING_NAME is 'config_logging', but must be the name of a ConfigMap",
      "ACTIVATOR_SERVING_BINDADDRESS | ' ' | activator.serving | activator.serving.bind-address is empty, but must be an address such as 0.0.0.0",
      "ACTIVATOR_CLUSTER_APITIMEOUT | -5s | activator.cluster | activator.cluster.api-timeout is -5s, but must be more than 0",
      "ACTIVATOR_CLUSTER_AUTOSCALER | :: | activator.cluster | activator.cluster.autoscaler is '::', but must be a URL such as ws://host:8080",
      "ACTIVATOR_CLUSTER_AUTOSCALER | autoscaler:8080 | activator.cluster | activator.cluster.autoscaler is 'autoscaler:8080', but must be a URL such as ws://host:8080",
      "ACTIVATOR_CLUSTER_SERVER | :: | activator.cluster | -server is 'http://::', but must be a URL such as https://host:8080",
      "ACTIVATOR_PORT_HTTP1 | eighty | activator.port | activator.port.http1 is 'eighty', but must be a whole number"})
  void namesAPropertyThatNoVariableOfKnativesSets(String variable, String value, String prefix,
      String expected) {
    var records = Map.of("activator.readiness", ReadinessProperties.class, "activator.serving",
        ProxyServerProperties.class, "activator.port", PortProperties.class, "activator.cluster",
        ClusterProperties.class,
        "activator.standalone", StandaloneProperties.class, "activator.config-maps",
        ConfigMapProperties.class);
    assertThat(line(prefix, records.get(prefix), Map.of(variable, value))).isEqualTo(expected);
  }

  @Test
  void takesAServerWithoutAScheme() {
    assertThat(bind("activator.cluster", ClusterProperties.class,
        Map.of("ACTIVATOR_CLUSTER_SERVER", "10.0.0.1:6443")).access())
        .isEqualTo(new ClusterAccess.At(URI.create("http://10.0.0.1:6443")));
  }

  /** Of each, a number of nanoseconds would overflow. */
  @Test
  void takesAHundredYearsForADurationThatIsLonger() {
    var serving = bind("activator.serving", ProxyServerProperties.class,
        Map.of("ACTIVATOR_SERVING_DRAINTIMEOUT", "9223372036854775807s",
            "ACTIVATOR_SERVING_PROPAGATIONDELAY", "200000d"));
    assertThat(serving.propagationDelay().plus(serving.drainTimeout()).toNanos()).isPositive();
    assertThat(EffectiveProperties.of(List.of(serving)))
        .containsEntry("activator.serving.drain-timeout", "876000h");
    assertThat(bind("activator.cluster", ClusterProperties.class,
        Map.of("ACTIVATOR_CLUSTER_APITIMEOUT", "200000d")).apiTimeout().toNanos()).isPositive();
  }

  @ParameterizedTest(name = "{0} is {1} from {2}")
  @CsvSource(delimiter = '|', value = {"activator.probe.timeout | 1s | environment PROBE_TIMEOUT",
      "activator.probe.frequency | 200ms | default",
      "activator.port.h2c | 8014 | environment ACTIVATOR_PORT_H2C",
      "activator.egress.no-proxy | a,b | environment no_proxy",
      "activator.egress.http-proxy | '' | default",
      "activator.port.http1 | '' | default",
      "server.port | 9095 | environment METRICS_PROMETHEUS_PORT"})
  void saysWhereAValueIsFrom(String property, String value, String source) {
    var environment = environment(Map.of("PROBE_TIMEOUT", "1s", "ACTIVATOR_PORT_H2C", "8014",
        "METRICS_PROMETHEUS_PORT", "9095", "no_proxy", "a,b"));
    var setting = EffectiveProperties.setting(environment, property);
    assertThat(setting.value()).isEqualTo(value);
    assertThat(setting.source()).isEqualTo(source);
  }

  @Test
  void hidesWhatIsSecret() {
    assertThat(SettingsDryRun.hide("a.password", "x")).isEqualTo("******");
    assertThat(SettingsDryRun.hide("a.api-token", "")).isEmpty();
    assertThat(SettingsDryRun.hide("tracing-endpoint", "https://me:pass@host:1/x"))
        .isEqualTo("https://******@host:1/x");
    assertThat(SettingsDryRun.hide("activator.egress.https-proxy", "me:s3cret@proxy:3128"))
        .isEqualTo("******@proxy:3128");
    assertThat(SettingsDryRun.hide("activator.otel.endpoint", "me:s3cret@collector:4317"))
        .isEqualTo("******@collector:4317");
    assertThat(SettingsDryRun.hide("tracing-endpoint", "http://me:p@ss@host/x"))
        .isEqualTo("http://******@host/x");
    assertThat(SettingsDryRun.hide("template", "a\nb")).isEqualTo("a\\nb");
  }
}
