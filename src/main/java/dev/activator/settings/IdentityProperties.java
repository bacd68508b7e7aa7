package dev.activator.settings;

import dev.activator.config.ClusterDomain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The identity of this activator among others. In a cluster the Deployment sets it.
 *
 * @param podName the name under which the autoscaler knows this activator
 * @param podIp the address of this pod, to find it among the activators
 * @param systemNamespace the namespace of the autoscaler and the ConfigMaps
 * @param clusterDomain the DNS domain of the cluster's Services. Empty for that of the pod's
 *     resolver
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
    } catch (IOException e) {
      return List.of();
    }
  }
}
