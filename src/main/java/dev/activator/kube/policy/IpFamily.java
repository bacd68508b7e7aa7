package dev.activator.kube.policy;

/** The family of an IP address: IPv4 or IPv6. */
public enum IpFamily {
  IPV4,
  IPV6;

  /** @param ip an address without brackets */
  public static IpFamily of(String ip) {
    return ip.indexOf(':') < 0 ? IPV4 : IPV6;
  }
}
