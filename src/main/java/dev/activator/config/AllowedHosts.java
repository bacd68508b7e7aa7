package dev.activator.config;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The host names by which a local server may be addressed. A foreign web page in a local browser
 * would use another name (DNS rebinding) or send another {@code Origin}. Pages of other local
 * servers are foreign, too.
 *
 * @param bindAddress an additional name
 */
public record AllowedHosts(String bindAddress, int port) {
  private static final String OCTET = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
  /** Browsers send only these forms. */
  private static final Pattern LOOPBACK = Pattern.compile(
      "localhost\\.?|127(\\." + OCTET + "){3}|\\[(::|(0{1,4}:){7})0{0,3}1]");
  private static final Pattern HOST = Pattern
      .compile("(?<name>[^\\[\\]:@/]+|\\[[^\\[\\]@/]+])(:(?<port>\\d{1,5}))?");
  private static final Pattern ORIGIN = Pattern.compile("(?<scheme>https?)://(?<host>[^/]+)");
  private static final int HTTP = 80;
  private static final int HTTPS = 443;

  /** The reason for the caller why a request is refused; null if it is not. */
  public @Nullable String refusal(List<String> hosts, List<String> origins) {
    if (hosts.size() != 1 || !isOwn(hosts.getFirst(), port)) {
      return refusal("Host", String.join(", ", hosts));
    }
    var foreign = origins.stream().filter(origin -> !isOwnOrigin(origin)).findFirst();
    return foreign.map(origin -> refusal("Origin", origin)).orElse(null);
  }

  private String refusal(String header, String value) {
    return "this port answers only callers that address it as localhost:" + port
        + ", and pages from there; the " + header + " header says \"" + value + "\"";
  }

  private boolean isOwnOrigin(String origin) {
    var matcher = ORIGIN.matcher(origin.toLowerCase(Locale.ROOT));
    return matcher.matches()
        && isOwn(matcher.group("host"), matcher.group("scheme").equals("http") ? HTTP : HTTPS);
  }

  private boolean isOwn(String host, int defaultPort) {
    var matcher = HOST.matcher(host.toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      return false;
    }
    var name = matcher.group("name");
    var given = matcher.group("port");
    return (given == null ? defaultPort : Integer.parseInt(given)) == port
        && (LOOPBACK.matcher(name).matches() || isBindAddress(name));
  }

  private boolean isBindAddress(String name) {
    return name.equalsIgnoreCase(bindAddress) || name.equalsIgnoreCase("[" + bindAddress + "]");
  }
}
