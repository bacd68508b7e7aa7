package dev.activator.proxy;

import dev.activator.proxy.policy.HostRule;
import java.time.Duration;

/**
 * How requests are taken and passed on.
 *
 * @param clusterDomain what hosts of services end with, such as {@code cluster.local}
 * @param hosts another way to name a revision, for hosts that are no service's
 * @param addressing which host pods are asked for
 * @param headTimeout how long a request's head may take to arrive
 */
public record ProxySettings(String clusterDomain, HostRule hosts, Addressing addressing,
    Duration headTimeout) {

  /** Those of the Knative activator. */
  public static ProxySettings of(String clusterDomain) {
    return new ProxySettings(clusterDomain, HostRule.NONE, new Addressing.ByPod(),
        Duration.ofSeconds(60));
  }
}
