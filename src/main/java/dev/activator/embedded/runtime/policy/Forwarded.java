package dev.activator.embedded.runtime.policy;

import java.util.ArrayList;
import java.util.List;

/**
 * The header {@code Forwarded} for processes that read it, made of the older headers.
 *
 * <p>
 * <b>Source.</b> RFC 7239; {@code pkg/queue/forwarded_shim.go} in Knative Serving.
 */
public final class Forwarded {
  private Forwarded() {}

  /**
   * The header of a request that came by these hops.
   *
   * @param addresses {@code X-Forwarded-For}, a list with commas
   * @param host {@code X-Forwarded-Host}
   * @param scheme {@code X-Forwarded-Proto}
   * @return the value; empty when all three are
   */
  public static String of(String addresses, String host, String scheme) {
    List<String> hops = new ArrayList<>();
    for (String address : addresses.split(",", -1)) {
      if (!address.isBlank()) {
        hops.add("for=" + node(address.strip()));
      }
    }
    List<String> first = new ArrayList<>(hops.subList(0, Math.min(1, hops.size())));
    if (!host.isEmpty()) {
      first.add("host=" + host);
    }
    if (!scheme.isEmpty()) {
      first.add("proto=" + scheme);
    }
    List<String> elements = new ArrayList<>(List.of(String.join(";", first)));
    elements.addAll(hops.subList(Math.min(1, hops.size()), hops.size()));
    return String.join(", ", elements);
  }

  private static String node(String address) {
    boolean bareIpv6 = address.indexOf(':') >= 0 && !address.startsWith("[");
    return bareIpv6 ? "\"[" + address + "]\"" : address;
  }
}
