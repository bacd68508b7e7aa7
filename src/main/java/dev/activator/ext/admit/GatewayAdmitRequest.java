package dev.activator.ext.admit;

import dev.activator.proxy.policy.FramingCheck;
import java.util.Locale;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A gateway's question whether it may send a request to a Service itself, as parsed from the
 * question's headers.
 */
sealed interface GatewayAdmitRequest {
  /**
   * The original request.
   *
   * @param host with the port if given
   * @param target path and query
   */
  record OriginalRequest(String method, String host, String target)
      implements GatewayAdmitRequest {}

  /** @param problem what is missing or wrong, and what to set in the gateway */
  record Unclear(String problem) implements GatewayAdmitRequest {}

  /**
   * How a gateway describes the original request. The path of the question chooses the convention,
   * because a caller of the gateway could send the headers of another one.
   */
  enum Convention {
    /** {@code X-Original-URL} and {@code X-Original-Method}, as ingress-nginx sets them. */
    ORIGINAL_URL,
    /** {@code X-Forwarded-Host}, {@code -Uri} and {@code -Method}, as Traefik and Caddy set them. */
    FORWARDED,
    /**
     * The question has the original host and method, and the original path after this one, as
     * Envoy's HTTP service sends it.
     */
    HOST;

    private final String path = "/admit/" + name().toLowerCase(Locale.ROOT).replace('_', '-');

    /** The convention of this path; null if there is none. */
    public static @Nullable Convention of(String target) {
      for (var one : values()) {
        if (one.isAt(target)) {
          return one;
        }
      }
      return null;
    }

    private boolean isAt(String target) {
      if (!target.startsWith(path)) {
        return false;
      }
      char next = target.length() == path.length() ? '?' : target.charAt(path.length());
      return next == '?' || this == HOST && next == '/';
    }

    @Override
    public String toString() {
      return path;
    }
  }

  /**
   * @param method of the question, like {@code target}
   * @param header gives the first value of a header; null if it is missing
   */
  static GatewayAdmitRequest of(Convention by, String method, String target,
      UnaryOperator<@Nullable String> header) {
    return switch (by) {
      case ORIGINAL_URL -> ofUrl(header.apply("X-Original-URL"),
          or(header.apply("X-Original-Method"), "GET"));
      case FORWARDED -> ofParts(or(header.apply("X-Forwarded-Method"), "GET"),
          header.apply("X-Forwarded-Host"), or(header.apply("X-Forwarded-Uri"), "/"),
          "X-Forwarded-Host");
      case HOST -> {
        yield ofParts(method, header.apply("Host"), target.substring(by.path.length()), "Host");
      }
    };
  }

  private static GatewayAdmitRequest ofUrl(@Nullable String url, String method) {
    if (url == null || url.isEmpty()) {
      return new Unclear("the header X-Original-URL is missing; in nginx:"
          + " proxy_set_header X-Original-URL $scheme://$http_host$request_uri;");
    }
    var parsed = FramingCheck.target(method, url);
    return parsed == null || parsed.host() == null
        ? new Unclear("the header X-Original-URL is not a URL with a scheme and a host")
        : new OriginalRequest(method, parsed.host(), parsed.path());
  }

  private static GatewayAdmitRequest ofParts(String method, @Nullable String host, String target,
      String header) {
    if (host == null || host.isEmpty()) {
      return new Unclear("the header " + header + " is missing");
    }
    // Without the slash, the target could become a part of the host.
    var path = target.startsWith("/") ? target : "/" + target;
    var parsed = FramingCheck.target(method, "http://" + host + path);
    return parsed == null || !host.equals(parsed.host())
        ? new Unclear("method, host or path of the original request are malformed")
        : new OriginalRequest(method, host, parsed.path());
  }

  private static String or(@Nullable String text, String otherwise) {
    return text == null || text.isEmpty() ? otherwise : text;
  }
}
