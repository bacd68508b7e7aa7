package dev.activator.proxy;

import dev.activator.proxy.policy.HostRule;
import dev.activator.proxy.route.Addressing;
import java.time.Duration;

/**
 * How requests are taken and passed on.
 *
 * @param clusterDomain what hosts of services end with, such as {@code cluster.local}
 * @param hosts another way to name a revision, for hosts that are no service's
 * @param addressing which host pods are asked for
 * @param headTimeout how long a request's head may take to arrive
 * @param heldBytes how many bytes of requests may be held in memory; more than 0
 * @param startMessages whether callers are told in full what is known of a start that failed: such
 *     texts of a cluster name registries, addresses and Secrets
 */
public record ProxySettings(String clusterDomain, HostRule hosts, Addressing addressing,
    Duration headTimeout, long heldBytes, boolean startMessages) {

  /** Those of the Knative activator. */
  public static ProxySettings of(String clusterDomain) {
    return new ProxySettings(clusterDomain, HostRule.NONE, new Addressing.ByPod(),
        Duration.ofSeconds(60), 256 << 20, false);
  }
}
