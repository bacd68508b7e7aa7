package dev.activator.proxy.policy;

import dev.activator.revision.ColdStartRules.ConfiguredResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * A response that the activator makes itself.
 *
 * @param headers without those that frame the body
 */
public record LocalResponse(int status, Map<String, String> headers, String body) {
  private static final Map<String, String> PLAIN = Map.of("Content-Type",
      "text/plain; charset=utf-8");
  private static final Map<String, String> ERROR = Map.of("Content-Type",
      "text/plain; charset=utf-8", "X-Content-Type-Options", "nosniff");

  public static LocalResponse empty(int status) {
    return new LocalResponse(status, Map.of(), "");
  }

  public static LocalResponse plain(int status, String body) {
    return new LocalResponse(status, PLAIN, body);
  }

  public static LocalResponse of(ConfiguredResponse written) {
    return new LocalResponse(written.status(), written.headers(), written.body());
  }

  /** An error as Go's {@code http.Error} sends it. */
  public static LocalResponse error(int status, String message) {
    return new LocalResponse(status, ERROR, message + "\n");
  }

  public LocalResponse with(String name, String value) {
    var more = new TreeMap<>(headers);
    more.put(name, value);
    return new LocalResponse(status, Map.copyOf(more), body);
  }

  /**
   * Whether the response has a Content-Length. A 304 has none, because it would have to be that of
   * the 200; RFC 9110, section 8.6.
   */
  public boolean hasLength() {
    return status != 204 && status != 304;
  }

  /** Adds Retry-After to a 503 that has none. */
  public LocalResponse withRetryAfter(int seconds) {
    return status != 503 || headers.keySet().stream().anyMatch("Retry-After"::equalsIgnoreCase)
        ? this
        : with("Retry-After", Integer.toString(seconds));
  }

  /** The same response with another body and its headers. */
  LocalResponse as(Map<String, String> form, String text) {
    var all = new TreeMap<>(headers);
    all.putAll(form);
    return new LocalResponse(status, Map.copyOf(all), text);
  }

  /**
   * An error for gRPC callers in HTTP/2: status 200, no body, and headers that are also trailers,
   * because their libraries read {@code grpc-status} and {@code grpc-message} only. It keeps the
   * reason and {@code Retry-After}.
   *
   * <p><b>Source.</b> {@code PROTOCOL-HTTP2.md} ("Trailers-Only") and {@code
   * http-grpc-status-mapping.md} of gRPC, whose statuses for 429 and 504 are for proxies that do not
   * know gRPC; {@code sendLocalReply} in Envoy.
   */
  public LocalResponse forGrpc() {
    var all = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
    all.putAll(headers);
    all.remove("X-Content-Type-Options");
    all.put("Content-Type", "application/grpc");
    all.putAll(grpcTrailers());
    return new LocalResponse(200, all, "");
  }

  /** The trailers by which a gRPC response that has begun ends with this error. */
  public Map<String, String> grpcTrailers() {
    return Map.of("grpc-status", Integer.toString(grpcStatus()), "grpc-message",
        grpcMessage(body.strip()));
  }

  private int grpcStatus() {
    return switch (status) {
      case 400 -> 13; // INTERNAL
      case 401 -> 16; // UNAUTHENTICATED
      case 403 -> 7; // PERMISSION_DENIED
      case 404 -> 12; // UNIMPLEMENTED
      case 429 -> 8; // RESOURCE_EXHAUSTED
      case 502, 503 -> 14; // UNAVAILABLE
      case 504 -> 4; // DEADLINE_EXCEEDED
      default -> 2; // UNKNOWN
    };
  }

  static String grpcMessage(String message) {
    var all = new StringBuilder();
    for (byte each : message.getBytes(StandardCharsets.UTF_8)) {
      if (each < ' ' || each > '~' || each == '%') {
        all.append('%').append(String.format("%02X", each & 0xff));
      } else {
        all.append((char) each);
      }
    }
    return all.toString();
  }
}
