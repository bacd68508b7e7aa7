package dev.activator.config;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP proxies for connections to the Kubernetes API and to telemetry collectors. Pods and the
 * autoscaler are reached directly.
 *
 * <p><b>Errors.</b> {@link IllegalArgumentException} that names the variable of an invalid URL.
 *
 * <p><b>Source.</b> {@code golang.org/x/net/http/httpproxy}.
 *
 * @param exceptions the hosts that are reached directly: {@code *}, names, addresses, networks
 */
public record OutboundProxies(@Nullable URI http, @Nullable URI https, List<String> exceptions) {
  private static final Pattern URL = Pattern
      .compile("(?:(https?|socks5)://)?((?:[^/@\\s]*@)?(?:\\[[^\\s\\]]+]|[^\\s:/?#@\\[\\]]+)"
          + "(?::\\d{1,5})?)(?:[/?#]\\S*)?", Pattern.CASE_INSENSITIVE);
  private static final Pattern USER = Pattern.compile("^([a-z][a-z0-9+.-]*://)?.*@",
      Pattern.CASE_INSENSITIVE);
  private static final int LAST_PORT = 65_535;
  private static final String LOCAL = "localhost";

  public OutboundProxies {
    exceptions = List.copyOf(exceptions);
  }

  public static OutboundProxies of(String http, String https, String none) {
    return new OutboundProxies(url("HTTP_PROXY", http), url("HTTPS_PROXY", https),
        Arrays.stream(none.split(",")).map(one -> one.strip().toLowerCase(Locale.ROOT))
            .filter(one -> !one.isEmpty()).toList());
  }

  private static @Nullable URI url(String variable, String text) {
    if (text.isBlank()) {
      return null;
    }
    var url = parse(text.strip());
    if (url == null) {
      throw new IllegalArgumentException(variable + " is '" + withoutUser(text.strip())
          + "', but must be a URL such as http://proxy:3128");
    }
    return url;
  }

  /** The URL without user and password, for logs. Also works for an invalid URL. */
  static String withoutUser(String text) {
    return USER.matcher(text).replaceFirst("$1");
  }

  /**
   * Parses a URL; null if it is invalid. Throws no exception, because its message could contain a
   * password.
   */
  private static @Nullable URI parse(String text) {
    var parts = URL.matcher(text);
    if (!parts.matches()) {
      return null;
    }
    var scheme = parts.group(1) == null ? "http" : parts.group(1).toLowerCase(Locale.ROOT);
    try {
      var url = new URI(scheme + "://" + parts.group(2));
      return url.getHost() == null || url.getPort() > LAST_PORT ? null : url;
    } catch (URISyntaxException e) {
      return null;
    }
  }

  /** The proxy for a target; null for none. */
  public @Nullable URI of(URI target) {
    var host = target.getHost();
    var proxy = "https".equals(target.getScheme()) ? https : http;
    return proxy == null || host == null || isDirect(host.toLowerCase(Locale.ROOT), port(target))
        ? null
        : proxy;
  }

  private static int port(URI target) {
    return target.getPort() >= 0
        ? target.getPort()
        : "https".equals(target.getScheme()) ? 443 : 80;
  }

  private boolean isDirect(String named, int port) {
    var host = named.replaceAll("^\\[|]$", "");
    var address = CidrRanges.literal(host);
    return host.equals(LOCAL) || (address != null && address.isLoopbackAddress())
        || exceptions.stream().anyMatch(one -> matches(one, host, address, port));
  }

  private static boolean matches(String exception, String host, @Nullable InetAddress address,
      int port) {
    if (exception.equals("*")) {
      return true;
    }
    if (exception.indexOf('/') >= 0) {
      var network = CidrRanges.network(exception);
      return address != null && network != null && network.contains(address);
    }
    int colon = exception.lastIndexOf(':');
    boolean hasPort = colon > 0 && (exception.indexOf(':') == colon || exception.startsWith("["));
    return hasPort
        ? exception.substring(colon + 1).equals(String.valueOf(port))
            && isNamed(exception.substring(0, colon), host, address)
        : isNamed(exception, host, address);
  }

  /**
   * Whether an exception matches a host. A name also matches its subdomains; with a leading dot,
   * only those.
   */
  private static boolean isNamed(String written, String host, @Nullable InetAddress address) {
    var name = written.replaceAll("^\\[|]$", "");
    var literal = CidrRanges.literal(name);
    if (literal != null) {
      return literal.equals(address);
    }
    var suffix = name.startsWith("*.") ? name.substring(1) : name;
    return suffix.startsWith(".")
        ? host.endsWith(suffix)
        : host.equals(suffix) || host.endsWith("." + suffix);
  }
}
