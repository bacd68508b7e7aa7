package dev.activator.settings;

import dev.activator.config.NamespaceHostRules;
import dev.activator.config.SettingPreconditions;
import java.util.Objects;
import java.util.Set;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of activators in a cluster without Knative, which scale ScaledServices themselves.
 *
 * @param service the Service, in the activators' namespace, whose pods are the activators
 * @param lease the Lease, in the same namespace, by which they elect the activator that scales
 * @param statsPort the port for the reports of the other activators; the same for all
 * @param domains which hosts the ScaledServices of a namespace may claim, such as
 *     {@code shop=*.shop.example.com shop.example.com, blog=blog.example.com}; {@code *} stands for
 *     all other namespaces. Empty for no restriction
 * @param namespaces the namespaces of this installation, separated by commas; ScaledServices in
 *     others are ignored. Empty for all
 */
@ConfigurationProperties("activator.standalone")
public record StandaloneProperties(@DefaultValue("activator") String service,
    @DefaultValue("activator") String lease, @DefaultValue("8080") int statsPort,
    @DefaultValue("") String domains, @DefaultValue Set<String> namespaces) {

  public StandaloneProperties {
    namespaces = Set.copyOf(namespaces);
    SettingPreconditions.name("activator.standalone.service", service, "Service");
    SettingPreconditions.name("activator.standalone.lease", lease, "Lease");
    for (var namespace : namespaces) {
      SettingPreconditions.name("activator.standalone.namespaces", namespace, "namespace");
    }
    SettingPreconditions.port("activator.standalone.stats-port", statsPort);
    try {
      NamespaceHostRules.parse(domains);
    } catch (IllegalArgumentException e) {
      SettingPreconditions.check(false, "activator.standalone.domains", "'" + domains + "'",
          Objects.requireNonNull(e.getMessage()));
    }
  }

  public NamespaceHostRules rules() {
    return NamespaceHostRules.parse(domains);
  }
}
