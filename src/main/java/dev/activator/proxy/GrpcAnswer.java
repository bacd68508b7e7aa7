package dev.activator.proxy;

import dev.activator.proxy.policy.LocalResponse;
import java.nio.charset.StandardCharsets;
import java.util.TreeMap;

/**
 * The form of an error for gRPC callers in HTTP/2: status 200 and no body, because their libraries
 * read {@code grpc-status} and {@code grpc-message} only.
 *
 * <p><b>Source.</b> {@code PROTOCOL-HTTP2.md} ("Trailers-Only") and {@code
 * http-grpc-status-mapping.md} of gRPC, whose statuses for 429 and 504 are for proxies that do not
 * know gRPC; {@code sendLocalReply} in Envoy.
 */
final class GrpcAnswer {
  private static final String TYPE = "application/grpc";

  private GrpcAnswer() {}

  /** The answer as headers that are also trailers. It keeps the reason and {@code Retry-After}. */
  static LocalResponse of(LocalResponse answer) {
    var headers = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
    headers.putAll(answer.headers());
    headers.remove("X-Content-Type-Options");
    headers.put("Content-Type", TYPE);
    headers.put("grpc-status", Integer.toString(status(answer.status())));
    headers.put("grpc-message", encoded(answer.body().strip()));
    return new LocalResponse(200, headers, "");
  }

  static int status(int http) {
    return switch (http) {
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

  /** Percent-encodes what is not printable ASCII. */
  static String encoded(String message) {
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
