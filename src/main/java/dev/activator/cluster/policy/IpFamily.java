package dev.activator.cluster.policy;

/** IPv4 or IPv6. */
public enum IpFamily {
  IPV4,
  IPV6;

  /** @param ip without brackets */
  public static IpFamily of(String ip) {
    return ip.indexOf(':') < 0 ? IPV4 : IPV6;
  }
}
