package dev.activator.ext.actuators;

import dev.activator.http.UrlCaller;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import okhttp3.Dns;
import okhttp3.HttpUrl;
import org.jspecify.annotations.Nullable;

/**
 * Which addresses a host name may lead to. The owner of the name would otherwise choose
 * what the activator connects to. A host that is an address itself was allowed as such.
 *
 * <p><b>Threads.</b> Any.
 */
final class AddressCheck implements UrlCaller.AddressRule {
  private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|.*:.*");
  private static final Pattern API_NAME = Pattern
      .compile("kubernetes([.]default([.]svc([.].*)?)?)?");
  /** Metadata services of clouds, which have credentials, at addresses that are not link-local. */
  private static final Set<String> METADATA = Set.of("100.100.100.200", "168.63.129.16",
      "fd00:ec2:0:0:0:0:0:254", "fd00:ec2:0:0:0:0:0:23", "fd20:ce:0:0:0:0:0:254");

  private final Supplier<String> api;
  private final Dns names;
  /** Of the Kubernetes API, when its name was last found. */
  private volatile List<InetAddress> ofApi = List.of();

  /** @param api the URL of the Kubernetes API, which does not change */
  AddressCheck(Supplier<String> api, Dns names) {
    this.api = api;
    this.names = names;
  }

  @Override
  public @Nullable String refusal(String host, InetAddress address) throws IOException {
    var url = HttpUrl.parse(api.get());
    if (url != null) {
      try {
        ofApi = names.lookup(url.host());
      } catch (UnknownHostException _) {
        // Those it had before are refused.
      }
    }
    return refusal(host, address, NetworkInterface.getByInetAddress(address) != null, url, ofApi);
  }

  /**
   * Why an address may not be connected to; null if it may.
   *
   * @param own whether it is an address of this machine
   * @param api the URL of the Kubernetes API
   * @param ofApi the addresses of the Kubernetes API
   */
  static @Nullable String refusal(String host, InetAddress address, boolean own,
      @Nullable HttpUrl api, Collection<InetAddress> ofApi) {
    if (ADDRESS.matcher(host).matches()) {
      return null;
    }
    var real = embedded(address);
    boolean isLocalhost = host.equals("localhost");
    if (real.isLoopbackAddress() || real.isAnyLocalAddress() || own) {
      return isLocalhost ? null : "the activator's own address";
    }
    if (real.isLinkLocalAddress() || METADATA.contains(real.getHostAddress())) {
      return "a link-local address or one of a metadata service";
    }
    if (real.isMulticastAddress()) {
      return "a multicast address";
    }
    boolean namesApi = API_NAME.matcher(host).matches() || api != null && api.host().equals(host);
    return ofApi.contains(real) && !namesApi ? "the address of the Kubernetes API" : null;
  }

  /**
   * The IPv4 address within an IPv6 address, to which a gateway would send.
   *
   * <p><b>Source.</b> RFC 4291 for ::/96, RFC 3056 for 2002::/16, RFC 6052 for 64:ff9b::/96.
   */
  private static InetAddress embedded(InetAddress address) {
    var bytes = address.getAddress();
    if (bytes.length == 4 || address.isLoopbackAddress() || address.isAnyLocalAddress()) {
      return address;
    }
    boolean isTranslated = bytes[0] == 0 && bytes[1] == 0x64 && bytes[2] == (byte) 0xff
        && bytes[3] == (byte) 0x9b;
    boolean isCompatible = isZero(bytes, 0, 12);
    if (isTranslated || isCompatible) {
      return v4(bytes, 12);
    }
    return bytes[0] == 0x20 && bytes[1] == 0x02 ? v4(bytes, 2) : address;
  }

  private static boolean isZero(byte[] bytes, int from, int to) {
    return Arrays.equals(bytes, from, to, new byte[to - from], 0, to - from);
  }

  private static InetAddress v4(byte[] bytes, int from) {
    try {
      return InetAddress.getByAddress(Arrays.copyOfRange(bytes, from, from + 4));
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }
}
