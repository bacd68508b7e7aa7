package dev.activator.config;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Networks such as {@code 10.0.0.0/8}; an address alone is a network of one. */
public record CidrRanges(List<Network> all) {
  public CidrRanges {
    all = List.copyOf(all);
  }

  /** @param bits of the address that are the same in all of it */
  public record Network(InetAddress base, int bits) {
    boolean contains(InetAddress address) {
      byte[] one = base.getAddress();
      byte[] other = address.getAddress();
      if (one.length != other.length) {
        return false;
      }
      int whole = bits / 8;
      for (int i = 0; i < whole; i++) {
        if (one[i] != other[i]) {
          return false;
        }
      }
      int rest = bits % 8;
      return rest == 0 || (one[whole] ^ other[whole]) >> (8 - rest) == 0;
    }
  }

  /** @throws IllegalArgumentException with a sentence that names the first that is malformed */
  public static CidrRanges of(List<String> texts) {
    var all = new ArrayList<Network>();
    for (var text : texts) {
      var network = network(text.strip());
      if (network == null) {
        throw new IllegalArgumentException(
            "'" + text + "' is neither an address nor a network such as 10.0.0.0/8");
      }
      all.add(network);
    }
    return new CidrRanges(all);
  }

  /** Null if it is malformed. */
  static @Nullable Network network(String text) {
    int slash = text.indexOf('/');
    var base = literal(slash < 0 ? text : text.substring(0, slash));
    if (base == null) {
      return null;
    }
    int longest = base.getAddress().length * 8;
    if (slash < 0) {
      return new Network(base, longest);
    }
    var length = text.substring(slash + 1);
    int bits = length.matches("\\d{1,3}") ? Integer.parseInt(length) : longest + 1;
    return bits > longest ? null : new Network(base, bits);
  }

  /** False for a name. */
  public boolean contains(String address) {
    if (all.isEmpty()) {
      return false;
    }
    var literal = literal(address);
    return literal != null && all.stream().anyMatch(network -> network.contains(literal));
  }

  /** Null for a name; makes no DNS query. */
  static @Nullable InetAddress literal(String text) {
    try {
      return InetAddress.ofLiteral(text);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}
