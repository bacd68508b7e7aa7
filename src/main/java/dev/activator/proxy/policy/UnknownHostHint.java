package dev.activator.proxy.policy;

import java.util.List;

/**
 * Hints for the response to an unknown host: the known hosts, and whether this one was deleted.
 *
 * @param deleted whether the host was that of a service that has been deleted
 */
public record UnknownHostHint(List<String> hosts, boolean deleted) {
  static final UnknownHostHint NONE = new UnknownHostHint(List.of(), false);

  public UnknownHostHint {
    hosts = List.copyOf(hosts);
  }
}
