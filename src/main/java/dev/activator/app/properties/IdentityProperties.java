package dev.activator.app.properties;

import dev.activator.config.ClusterDomain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Who this activator is among others. In a cluster the Deployment says so in the environment.
 *
 * @param podName the name under which the autoscaler hears of it; {@code POD_NAME}
 * @param podIp the address by which it finds itself among the activators; {@code POD_IP}
 * @param systemNamespace the namespace where autoscaler and settings are; {@code SYSTEM_NAMESPACE}
 * @param clusterDomain the end of the cluster's service names; {@code CLUSTER_DOMAIN}. Empty for
 *     what the resolver says
 */
@ConfigurationProperties("activator.identity")
public record IdentityProperties(@DefaultValue("") String podName, @DefaultValue("") String podIp,
    @DefaultValue("") String systemNamespace, @DefaultValue("") String clusterDomain) {

  public IdentityProperties {
    require("POD_NAME", podName);
    require("POD_IP", podIp);
    require("SYSTEM_NAMESPACE", systemNamespace);
    clusterDomain = ClusterDomain.of(clusterDomain, resolver());
  }

  private static void require(String variable, String value) {
    if (value.isBlank()) {
      throw new IllegalArgumentException("the environment variable " + variable + " is not set");
    }
  }

  private static List<String> resolver() {
    try {
      return Files.readAllLines(Path.of("/etc/resolv.conf"));
    } catch (IOException absent) {
      return List.of();
    }
  }
}
