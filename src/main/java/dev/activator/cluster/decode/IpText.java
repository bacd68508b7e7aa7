package dev.activator.cluster.decode;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** IP addresses as text. */
final class IpText {
  private static final Pattern IPV4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");

  private IpText() {}

  /** The address a field holds; null, and a remark, if it is none. */
  static @Nullable String address(Field field, List<String> remarks) {
    var text = field.textOrEmpty();
    if (isAddress(text)) {
      return text;
    }
    remarks.add(field.path() + " is no IP address: '" + text + "'");
    return null;
  }

  /** Whether it is an address, without brackets, zone or port; no name is looked up. */
  private static boolean isAddress(String text) {
    try {
      // Neither of the two looks a name up. IPv4 is checked first: "1" is an address to the JDK.
      return IPV4.matcher(text).matches()
          ? InetAddress.ofLiteral(text) != null
          : text.contains(":") && !text.contains("%") && Inet6Address.ofLiteral(text) != null;
    } catch (IllegalArgumentException no) {
      return false;
    }
  }
}
