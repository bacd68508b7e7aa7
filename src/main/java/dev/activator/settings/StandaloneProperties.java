package dev.activator.settings;

import dev.activator.config.CidrRanges;
import dev.activator.config.NamespaceHostRules;
import dev.activator.config.PortRange;
import dev.activator.config.SettingPreconditions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of activators in a cluster without Knative, which scale ScaledServices themselves.
 *
 * @param service the Service, in the activators' namespace, whose pods are the activators
 * @param lease the Lease, in the same namespace, by which they elect the activator that scales
 * @param statsPort the port for the reports of the other activators; the same for all
 * @param domains which hosts the ScaledServices of a namespace may claim, such as {@code
 *     shop=*.shop.example.com, *=*.apps.example.com}. Empty for no restriction
 * @param namespaces the namespaces of this installation, separated by commas; ScaledServices in
 *     others are ignored. Empty for all
 * @param maxTimeoutSeconds the bound of {@code timeoutSeconds} of ScaledServices, 1 to 86400; give
 *     activators as long to drain
 * @param tcpPorts the ports on which activators take connections to {@code spec.ports} of
 *     ScaledServices, one port for each, such as {@code 9100-9119}. Empty for none
 * @param sniPort the port on which they take TLS connections to {@code spec.ports} by server name, which
 *     are passed on as they are; 0 for none
 * @param proxyProtocolFrom the addresses and networks, separated by commas, of load balancers that
 *     begin connections to {@code spec.ports} with a PROXY header
 */
@ConfigurationProperties("activator.standalone")
public record StandaloneProperties(@DefaultValue("activator") String service,
    @DefaultValue("activator") String lease, @DefaultValue("8080") int statsPort,
    @DefaultValue("") String domains, @DefaultValue Set<String> namespaces,
    @DefaultValue("600") int maxTimeoutSeconds, @DefaultValue("") String tcpPorts,
    @DefaultValue("0") int sniPort, @DefaultValue List<String> proxyProtocolFrom)
    implements ListeningPort.Source {
  private static final int MAX_TIMEOUT_SECONDS = 86_400;

  public StandaloneProperties {
    namespaces = Set.copyOf(namespaces);
    SettingPreconditions.name("activator.standalone.service", service, "Service");
    SettingPreconditions.name("activator.standalone.lease", lease, "Lease");
    for (var namespace : namespaces) {
      SettingPreconditions.name("activator.standalone.namespaces", namespace, "namespace");
    }
    SettingPreconditions.port("activator.standalone.stats-port", statsPort);
    SettingPreconditions.check(1 <= maxTimeoutSeconds && maxTimeoutSeconds <= MAX_TIMEOUT_SECONDS,
        "activator.standalone.max-timeout-seconds", maxTimeoutSeconds,
        "must be 1 to " + MAX_TIMEOUT_SECONDS);
    parses("activator.standalone.domains", domains, NamespaceHostRules::parse);
    parses("activator.standalone.tcp-ports", tcpPorts, PortRange::parse);
    proxyProtocolFrom = List.copyOf(proxyProtocolFrom);
    for (var source : proxyProtocolFrom) {
      SettingPreconditions.check(CidrRanges.isNetwork(source),
          "activator.standalone.proxy-protocol-from", "'" + source + "'",
          "must be an address or a network such as 10.0.0.0/8");
    }
    SettingPreconditions.port("activator.standalone.sni-port", sniPort);
  }

  @Override
  public List<ListeningPort> ports(ListeningPort.Others others) {
    return sniPort == 0
        ? List.of()
        : List.of(new ListeningPort("activator.standalone.sni-port", others.requestAddress(),
            sniPort));
  }

  private static void parses(String setting, String value, Consumer<String> parser) {
    try {
      parser.accept(value);
    } catch (IllegalArgumentException e) {
      SettingPreconditions.check(false, setting, "'" + value + "'",
          Objects.requireNonNull(e.getMessage()));
    }
  }

  public Duration maxTimeout() {
    return Duration.ofSeconds(maxTimeoutSeconds);
  }

  public PortRange tcpRange() {
    return PortRange.parse(tcpPorts);
  }

  public CidrRanges proxyProtocolSources() {
    return CidrRanges.of(proxyProtocolFrom);
  }

  public NamespaceHostRules rules() {
    return NamespaceHostRules.parse(domains);
  }
}
