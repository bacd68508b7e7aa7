package dev.activator.config;

import dev.activator.template.GoTemplateParser;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * The settings of the ConfigMap {@code config-network}.
 *
 * <p><b>Source.</b> {@code pkg/config/config.go} of {@code knative.dev/networking}; one invalid
 * entry invalidates the map.
 *
 * @param passthrough whether the mesh lets requests with the right headers address single pods
 */
public record NetworkConfig(MeshMode mesh, boolean passthrough, boolean systemInternalTls)
    implements ConfigMapSettings.Content<NetworkConfig> {
  public static final NetworkConfig DEFAULT = new NetworkConfig(MeshMode.AUTO, false, false);

  public static final String NAME = "config-network";

  private static final String MESH = "mesh-compatibility-mode";
  private static final String PASSTHROUGH = "enable-mesh-pod-addressability";
  private static final String TLS = "system-internal-tls";
  private static final Map<String, Boolean> SWITCH = Map.of("enabled", true, "disabled", false, "",
      false);
  private static final List<String> HTTP_PROTOCOLS = List.of("", "enabled", "disabled",
      "redirected");

  public static ConfigMapSettings<NetworkConfig> live() {
    return new ConfigMapSettings<>(NAME, DEFAULT, NetworkConfig::parse);
  }

  public static ParsedSettings<NetworkConfig> parse(Map<String, String> data) {
    var entries = new SettingsParser(data);
    checkTheRest(entries);
    var mesh = MeshMode.parse(entries.exactText(MESH));
    boolean passthrough = entries.flag(PASSTHROUGH);
    boolean encrypted = entries.flag("internal-encryption");
    boolean tls = onOff(entries, TLS) || encrypted;
    return ParsedSettings.of(entries.problems(), () -> new NetworkConfig(mesh, passthrough, tls));
  }

  /** Checks keys that are not used here. Invalid values of them also make the map invalid. */
  private static void checkTheRest(SettingsParser entries) {
    entries.check(entries.either("domain-template", "domainTemplate"), GoTemplateParser::problem);
    entries.check(entries.either("tag-template", "tagTemplate"), GoTemplateParser::problem);
    entries.check("namespace-wildcard-cert-selector", NetworkConfig::selectorProblem);
    entries.flag(
        entries.either("autocreate-cluster-domain-claims", "autocreateClusterDomainClaims"));
    entries.count(entries.either("rollout-duration", "rolloutDuration"));
    onOff(entries, "cluster-local-domain-tls");
    entries.check(entries.either("http-protocol", "httpProtocol"),
        NetworkConfig::httpProtocolProblem);
  }

  /** The types of {@code metav1.LabelSelector}. */
  private record Selector(@Nullable Map<String, String> matchLabels,
      @Nullable List<Expression> matchExpressions) {
    private record Expression(@Nullable String key, @Nullable String operator,
        @Nullable List<String> values) {}
  }

  private static @Nullable String selectorProblem(String text) {
    // As with sigs.k8s.io/yaml, a number or a boolean counts as text where one is expected.
    var yaml = YAMLMapper.builder().build();
    try {
      var tree = yaml.readTree(text);
      var _ = tree.isMissingNode() ? null : yaml.treeToValue(tree, Selector.class);
      return null;
    } catch (JacksonException e) {
      return e.getOriginalMessage().lines().findFirst().orElse("it is no label selector");
    }
  }

  private static @Nullable String httpProtocolProblem(String text) {
    return HTTP_PROTOCOLS.contains(text.toLowerCase(Locale.ROOT))
        ? null
        : "it is '" + text + "', but must be enabled, disabled or redirected";
  }

  private static boolean onOff(SettingsParser entries, String key) {
    var chosen = SWITCH.get(entries.exactText(key).toLowerCase(Locale.ROOT));
    if (chosen == null) {
      entries.problem(
          key + " is '" + entries.exactText(key) + "', but must be enabled or disabled");
    }
    return Boolean.TRUE.equals(chosen);
  }

  @Override
  public List<String> needRestart(NetworkConfig next) {
    var needed = new ArrayList<String>();
    if (systemInternalTls != next.systemInternalTls) {
      needed.add(TLS);
    }
    return needed;
  }

  @Override
  public SortedMap<String, String> entries() {
    return new TreeMap<>(Map.of(MESH, mesh.name().toLowerCase(Locale.ROOT), PASSTHROUGH,
        String.valueOf(passthrough), TLS, systemInternalTls ? "enabled" : "disabled"));
  }

  /**
   * Whether a service mesh may stand between the activator and the pods.
   *
   * <p><b>Source.</b> {@code mesh-compatibility-mode} in {@code config-network}.
   */
  public enum MeshMode {
    /** A mesh is detected by the answers to probes. */
    AUTO,
    /** There is a mesh: requests are sent to the ClusterIP, never to pods. */
    ENABLED,
    /** There is no mesh: ready pods need no probe, and the ClusterIP is not used. */
    DISABLED;

    /** Parses the value; {@link #AUTO} for unknown text, as in Knative. */
    public static MeshMode parse(String text) {
      return switch (text.toLowerCase(Locale.ROOT)) {
        case "enabled" -> ENABLED;
        case "disabled" -> DISABLED;
        default -> AUTO;
      };
    }
  }
}
