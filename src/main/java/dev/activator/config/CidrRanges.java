package dev.activator.config;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A list of networks such as {@code 10.0.0.0/8}. A single address is a network, too. */
public record CidrRanges(List<Network> all) {
  public CidrRanges {
    all = List.copyOf(all);
  }

  /** @param bits the number of bits that all its addresses share */
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

  /** @throws IllegalArgumentException with a sentence that names the first malformed one */
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

  public static boolean isNetwork(String text) {
    return network(text.strip()) != null;
  }

  /** Parses a network; null if it is malformed. */
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

  /** Whether a network contains the address. */
  public boolean contains(InetAddress address) {
    return all.stream().anyMatch(network -> network.contains(address));
  }

  /** Parses an address, without a DNS query; null for a host name. */
  static @Nullable InetAddress literal(String text) {
    try {
      return InetAddress.ofLiteral(text);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}
