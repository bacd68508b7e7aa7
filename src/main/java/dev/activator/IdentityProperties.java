package dev.activator;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Who this activator is among others. In a cluster the Deployment says so in the environment.
 *
 * @param podName under which the autoscaler hears of it; {@code POD_NAME}
 * @param podIp by which it finds itself among the activators; {@code POD_IP}
 * @param systemNamespace where autoscaler and settings are; {@code SYSTEM_NAMESPACE}
 * @param clusterDomain the end of the cluster's service names; {@code CLUSTER_DOMAIN}
 */
@ConfigurationProperties("activator.identity")
record IdentityProperties(@DefaultValue("") String podName, @DefaultValue("") String podIp,
    @DefaultValue("") String systemNamespace, @DefaultValue("cluster.local") String clusterDomain) {

  IdentityProperties {
    require("POD_NAME", podName);
    require("POD_IP", podIp);
    require("SYSTEM_NAMESPACE", systemNamespace);
  }

  private static void require(String variable, String value) {
    if (value.isBlank()) {
      throw new IllegalArgumentException("the environment variable " + variable + " is not set");
    }
  }
}
