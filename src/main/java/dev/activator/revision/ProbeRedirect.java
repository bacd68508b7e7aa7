package dev.activator.revision;

import java.net.URI;
import java.util.regex.Pattern;

/**
 * Where the answer to the probe of a container leads, if it is a redirect.
 *
 * <p><b>Source.</b> {@code RedirectChecker} in the kubelet's {@code pkg/probe/http}, and Go's
 * {@code http.Client}.
 */
public sealed interface ProbeRedirect {
  /** The limit of requests for one probe. */
  int MAX_REQUESTS = 10;

  /** The status decides: nothing is to be followed, or it leads to another host. */
  record None() implements ProbeRedirect {}

  /**
   * The answer there decides, to a request with the same fields.
   *
   * @param path with the query
   * @param keepsHost whether the {@code Host} field stays
   */
  record Follow(boolean tls, int port, String path, boolean keepsHost) implements ProbeRedirect {}

  record Failed(String reason) implements ProbeRedirect {}

  /** What {@link URI} refuses, and Go's parser of URLs accepts. */
  Pattern ESCAPED = Pattern.compile("[^\\w!#$%&'()*+,./:;=?@\\[\\]~-]");

  /**
   * @param requested the URL of the request, such as {@code http://10.1.1.1:8080/healthz}
   * @param location the field of this name; empty if there is none
   * @param requests how many were sent, with this one
   */
  static ProbeRedirect of(String requested, int status, String location, int requests) {
    boolean redirects = switch (status) {
      case 301, 302, 303, 307, 308 -> !location.isEmpty();
      default -> false;
    };
    if (!redirects) {
      return new None();
    }
    try {
      var from = uri(requested);
      var to = uri(location);
      // Java's resolve drops the last segment of the path before a query.
      var next = to.getRawAuthority() == null && location.startsWith("?")
          ? from.resolve(from.getRawPath() + to)
          : from.resolve(to);
      return followed(from, next, requests, !to.isAbsolute());
    } catch (IllegalArgumentException e) {
      return new Failed("redirects to '" + location + "', which is no address");
    }
  }

  private static ProbeRedirect followed(URI from, URI next, int requests, boolean isRelative) {
    if (next.getHost() == null || !next.getHost().equals(from.getHost())) {
      return new None();
    }
    if (requests >= MAX_REQUESTS) {
      return new Failed("redirects " + MAX_REQUESTS + " times");
    }
    boolean tls = next.getScheme().equalsIgnoreCase("https");
    if (!tls && !next.getScheme().equalsIgnoreCase("http")) {
      return new Failed("redirects to " + next.getScheme());
    }
    int standard = tls ? 443 : 80;
    int port = next.getPort() < 0 ? standard : next.getPort();
    if (port < 1 || port > 65_535) {
      return new Failed("redirects to port " + port);
    }
    var path = next.getRawPath().isEmpty() ? "/" : next.getRawPath();
    return new Follow(tls, port,
        next.getRawQuery() == null ? path : path + "?" + next.getRawQuery(), isRelative);
  }

  private static URI uri(String text) {
    return URI.create(ESCAPED.matcher(text)
        .replaceAll(match -> "%%%02X".formatted((int) match.group().charAt(0) & 0xff)));
  }
}
