package dev.activator.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the ConfigMap {@code config-network} says that concerns us.
 *
 * <p>
 * <b>Source.</b> {@code pkg/config/config.go} of {@code knative.dev/networking}, which takes the map
 * as a whole or not at all.
 *
 * @param mesh whether a service mesh may stand between us and the pods
 * @param passthrough whether the mesh lets single pods be addressed, given the right headers
 * @param systemInternalTls whether requests go to pods over TLS
 */
public record NetworkConfig(MeshMode mesh, boolean passthrough, boolean systemInternalTls) {
  /** What an empty map means. */
  public static final NetworkConfig DEFAULT = new NetworkConfig(MeshMode.AUTO, false, false);

  /** The name of the ConfigMap; it cannot be changed. */
  public static final String NAME = "config-network";

  private static final Map<String, Boolean> SWITCH = Map.of("enabled", true, "disabled", false, "",
      false);
  private static final List<String> HTTP_PROTOCOLS = List.of("", "enabled", "disabled",
      "redirected");

  /**
   * Reads the map.
   *
   * @param template says what is wrong with a template in Go's language; null for nothing
   */
  public static Parsed<NetworkConfig> parse(Map<String, String> data, TemplateCheck template) {
    var entries = new Entries(data);
    checkTheRest(entries, template);
    var mesh = MeshMode.parse(entries.text("mesh-compatibility-mode", ""));
    boolean passthrough = entries.flag("enable-mesh-pod-addressability");
    boolean encrypted = entries.flag("internal-encryption");
    boolean tls = onOff(entries, "system-internal-tls") || encrypted;
    return Parsed.of(entries.problems(), () -> new NetworkConfig(mesh, passthrough, tls));
  }

  /** What means nothing to an activator, but makes the map invalid for all components alike. */
  private static void checkTheRest(Entries entries, TemplateCheck template) {
    entries.check(entries.either("domain-template", "domainTemplate"), template::problem);
    entries.check(entries.either("tag-template", "tagTemplate"), template::problem);
    entries.check("namespace-wildcard-cert-selector", LabelSelectorText::problem);
    entries.flag(
        entries.either("autocreate-cluster-domain-claims", "autocreateClusterDomainClaims"));
    entries.count(entries.either("rollout-duration", "rolloutDuration"));
    onOff(entries, "cluster-local-domain-tls");
    entries.check(entries.either("http-protocol", "httpProtocol"),
        NetworkConfig::httpProtocolProblem);
  }

  private static @Nullable String httpProtocolProblem(String text) {
    return HTTP_PROTOCOLS.contains(text.toLowerCase(Locale.ROOT))
        ? null
        : "it is '" + text + "', but must be enabled, disabled or redirected";
  }

  private static boolean onOff(Entries entries, String key) {
    var chosen = SWITCH.get(entries.text(key, "").toLowerCase(Locale.ROOT));
    if (chosen == null) {
      entries.problem(
          key + " is '" + entries.text(key, "") + "', but must be enabled or disabled");
    }
    return Boolean.TRUE.equals(chosen);
  }

  /** What the difference between two of them takes, that cannot be had without a new start. */
  public List<String> needRestart(NetworkConfig next) {
    var needed = new ArrayList<String>();
    if (systemInternalTls != next.systemInternalTls) {
      needed.add("system-internal-tls");
    }
    return needed;
  }
}
