package dev.activator.proxy.policy;

import java.util.List;

/**
 * What the response to an unknown host may say about known hosts.
 *
 * @param deleted whether the host was that of a service that has been deleted
 */
public record UnknownHostHint(List<String> hosts, boolean deleted) {
  static final UnknownHostHint NONE = new UnknownHostHint(List.of(), false);

  public UnknownHostHint {
    hosts = List.copyOf(hosts);
  }
}
