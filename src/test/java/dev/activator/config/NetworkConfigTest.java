package dev.activator.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.NetworkConfig.MeshMode;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NetworkConfigTest {
  @Test
  @DisplayName("an empty map means the defaults, and so does one with an example alone")
  void anEmptyMapMeansTheDefaults() {
    assertThat(parse(Map.of())).isEqualTo(new ParsedSettings.Valid<>(NetworkConfig.DEFAULT));
    assertThat(parse(Map.of("_example", "system-internal-tls: nonsense")))
        .isEqualTo(new ParsedSettings.Valid<>(NetworkConfig.DEFAULT));
    assertThat(NetworkConfig.DEFAULT)
        .isEqualTo(new NetworkConfig(MeshMode.AUTO, false, false));
  }

  @ParameterizedTest(name = "mesh-compatibility-mode: \"{0}\" means {1}")
  @CsvSource({"auto, AUTO", "Auto, AUTO", "enabled, ENABLED", "ENABLED, ENABLED",
      "disabled, DISABLED", "Disabled, DISABLED", "on, AUTO", "' enabled', AUTO", "'', AUTO",
      "true, AUTO"})
  void readsTheMeshModeInAnyCaseAndIgnoresWhatItDoesNotKnow(String text, MeshMode mode) {
    assertThat(parse(Map.of("mesh-compatibility-mode", text)))
        .isEqualTo(new ParsedSettings.Valid<>(new NetworkConfig(mode, false, false)));
  }

  @ParameterizedTest(name = "enable-mesh-pod-addressability: \"{0}\" means {1}")
  @CsvSource({"1, true", "t, true", "T, true", "TRUE, true", "true, true", "True, true",
      "0, false", "f, false", "F, false", "FALSE, false", "false, false", "False, false"})
  void readsSwitchesAsGoDoes(String text, boolean on) {
    assertThat(parse(Map.of("enable-mesh-pod-addressability", text)))
        .isEqualTo(new ParsedSettings.Valid<>(new NetworkConfig(MeshMode.AUTO, on, false)));
  }

  @ParameterizedTest(name = "system-internal-tls \"{0}\", internal-encryption \"{1}\": {2}")
  @CsvSource({"enabled, false, true", "Enabled, false, true", "ENABLED, true, true",
      "disabled, false, false", "'', false, false", "disabled, true, true", "'', true, true",
      "Disabled, 1, true"})
  void readsTheTlsModeFromTheNewKeyOrTheOld(String tls, String encryption, boolean on) {
    assertThat(parse(Map.of("system-internal-tls", tls, "internal-encryption", encryption)))
        .isEqualTo(new ParsedSettings.Valid<>(new NetworkConfig(MeshMode.AUTO, false, on)));
  }

  @ParameterizedTest(name = "{0}: \"{1}\" makes the map invalid")
  @CsvSource(delimiter = '|', value = {
      "enable-mesh-pod-addressability | yes | must be true or false",
      "enable-mesh-pod-addressability | '' | must be true or false",
      "internal-encryption | on | must be true or false",
      "autocreate-cluster-domain-claims | maybe | must be true or false",
      "autocreateClusterDomainClaims | maybe | must be true or false",
      "system-internal-tls | on | must be enabled or disabled",
      "cluster-local-domain-tls | yes | must be enabled or disabled",
      "rollout-duration | -1 | must be a whole number, 0 or more",
      "rollout-duration | 1.5 | must be a whole number, 0 or more",
      "rollout-duration | 10s | must be a whole number, 0 or more",
      "rolloutDuration | ten | must be a whole number, 0 or more",
      "http-protocol | on | must be enabled, disabled or redirected",
      "httpProtocol | on | must be enabled, disabled or redirected"})
  void refusesTheMapForOneBadValueAndNamesIt(String key, String value, String rule) {
    assertThat(problemsOf(Map.of(key, value))).startsWith(key).contains("'" + value + "'")
        .contains(rule);
  }

  @ParameterizedTest(name = "{0} may be \"{1}\"")
  @CsvSource(delimiter = '|', value = {"http-protocol | Redirected", "http-protocol | ''",
      "httpProtocol | disabled", "rollout-duration | 380", "cluster-local-domain-tls | Enabled",
      "domain-template | {{.Name}}.{{.Domain}}", "autoTLS | anything", "auto-tls | anything",
      "ingress-class | kourier", "default-external-scheme | https", "unknown-key | x"})
  void ignoresWhatMeansNothingHere(String key, String value) {
    assertThat(parse(Map.of(key, value)))
        .isEqualTo(new ParsedSettings.Valid<>(NetworkConfig.DEFAULT));
  }

  @ParameterizedTest(name = "a broken {0} makes the map invalid")
  @ValueSource(strings = {"domain-template", "tag-template", "domainTemplate", "tagTemplate"})
  void refusesABrokenTemplate(String key) {
    assertThat(problemsOf(Map.of(key, "{{.Name}}.{{")))
        .isEqualTo(key + " is not valid: unclosed action, at line 1, column 11 of the template");
  }

  @Test
  void readsTheNewNameOfAKeyWhereBothAreThere() {
    assertThat(parse(Map.of("http-protocol", "enabled", "httpProtocol", "nonsense")))
        .isEqualTo(new ParsedSettings.Valid<>(NetworkConfig.DEFAULT));
  }

  @ParameterizedTest(name = "namespace-wildcard-cert-selector \"{0}\" is a selector")
  @ValueSource(strings = {"", "matchLabels: {a: b}",
      "matchExpressions:\n- key: kubernetes.io/metadata.name\n  operator: NotIn\n"
          + "  values: [kube-system]",
      "matchExpressions: []",
      // sigs.k8s.io/yaml makes texts of numbers and booleans where a text belongs.
      "matchLabels: {wildcard: true}", "matchLabels: {a: 1, b: 1.5}",
      "matchExpressions: [{key: a, operator: NotIn, values: [true, 1]}]",
      "matchExpressions: [{key: 1, operator: Exists}]"})
  void acceptsASelector(String yaml) {
    assertThat(parse(Map.of("namespace-wildcard-cert-selector", yaml)))
        .isEqualTo(new ParsedSettings.Valid<>(NetworkConfig.DEFAULT));
  }

  @ParameterizedTest(name = "namespace-wildcard-cert-selector \"{0}\" is none")
  @ValueSource(strings = {"{", "some text", "[1, 2]", "matchLabels: [a]",
      "matchExpressions: {key: a}",
      "matchExpressions: [{key: a, operator: In, values: b}]"})
  void refusesWhatIsNoSelector(String yaml) {
    assertThat(problemsOf(Map.of("namespace-wildcard-cert-selector", yaml)))
        .startsWith("namespace-wildcard-cert-selector is not valid: ").doesNotContain("\n");
  }

  @Test
  void namesAllThatIsWrongAtOnce() {
    assertThat(
        parse(Map.of("rollout-duration", "x", "system-internal-tls", "y", "tag-template", "{{")))
        .isEqualTo(new ParsedSettings.Invalid<>(java.util.List.of(
            "tag-template is not valid: unclosed action, at line 1, column 1 of the template",
            "rollout-duration is 'x', but must be a whole number, 0 or more",
            "system-internal-tls is 'y', but must be enabled or disabled")));
  }

  @Test
  @DisplayName("only the TLS mode needs a new start")
  void onlyTheTlsModeNeedsANewStart() {
    var before = NetworkConfig.DEFAULT;
    assertThat(before.needRestart(new NetworkConfig(MeshMode.ENABLED, true, false))).isEmpty();
    assertThat(before.needRestart(new NetworkConfig(MeshMode.AUTO, false, true)))
        .containsExactly("system-internal-tls");
  }

  @Test
  void saysWhatTakesEffectByTheKeysThatSayIt() {
    assertThat(new NetworkConfig(MeshMode.DISABLED, true, true).entries()).isEqualTo(
        Map.of("mesh-compatibility-mode", "disabled", "enable-mesh-pod-addressability", "true",
            "system-internal-tls", "enabled"));
  }

  private static ParsedSettings<NetworkConfig> parse(Map<String, String> data) {
    return NetworkConfig.parse(data);
  }

  private static String problemsOf(Map<String, String> data) {
    return parse(data) instanceof ParsedSettings.Invalid<NetworkConfig> invalid
        ? invalid.line()
        : "none";
  }
}
