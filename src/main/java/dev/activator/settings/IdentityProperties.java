package dev.activator.settings;

import dev.activator.config.ClusterDomain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
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
    var missing = Stream.of(podName.isBlank() ? "POD_NAME" : "", podIp.isBlank() ? "POD_IP" : "",
        systemNamespace.isBlank() ? "SYSTEM_NAMESPACE" : "").filter(name -> !name.isEmpty())
        .toList();
    if (!missing.isEmpty()) {
      throw new IllegalArgumentException(
          "the environment does not have " + String.join(", ", missing)
              + ", which a Deployment sets; at a shell, for example: POD_NAME=activator-1"
              + " POD_IP=127.0.0.1 SYSTEM_NAMESPACE=knative-serving");
    }
    clusterDomain = ClusterDomain.of(clusterDomain, resolver());
  }

  private static List<String> resolver() {
    try {
      return Files.readAllLines(Path.of("/etc/resolv.conf"));
    } catch (IOException e) {
      return List.of();
    }
  }
}
