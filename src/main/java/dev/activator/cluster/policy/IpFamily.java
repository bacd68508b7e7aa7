package dev.activator.cluster.policy;

/** The two kinds of IP address. A pod may have one of each, and is then still one pod. */
public enum IpFamily {
  IPV4, IPV6;

  /** That of an address, as text without brackets. */
  public static IpFamily of(String ip) {
    return ip.indexOf(':') < 0 ? IPV4 : IPV6;
  }
}
