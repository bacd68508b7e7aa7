package dev.activator.proxy.policy;

import java.util.List;

/**
 * What the response to an unknown host may say of others.
 *
 * @param deleted whether the host was that of a service that has been deleted
 */
public record KnownHosts(List<String> hosts, boolean deleted) {
  static final KnownHosts NONE = new KnownHosts(List.of(), false);

  public KnownHosts {
    hosts = List.copyOf(hosts);
  }
}
