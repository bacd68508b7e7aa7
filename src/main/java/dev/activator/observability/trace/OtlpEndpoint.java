package dev.activator.observability.trace;

import java.net.URI;

/**
 * Where OTLP is sent. A variable of the environment counts before the ConfigMap, and one for this
 * signal before one for all.
 *
 * <p>
 * <b>Source.</b> OpenTelemetry, "OTLP exporter configuration": what is meant for all signals gets
 * each one's path appended; the others are taken as they are.
 */
public final class OtlpEndpoint {
  private OtlpEndpoint() {}

  /**
   * The URL for HTTP.
   *
   * @param own the variable of this signal; may be empty
   * @param common the variable of all signals; may be empty
   * @param configured what the ConfigMap says; its path is the signal's if it has none
   * @param path of the signal, such as {@code /v1/traces}
   */
  public static String http(String own, String common, String configured, String path) {
    if (!own.isEmpty()) {
      return withScheme(own);
    }
    if (!common.isEmpty()) {
      String base = withScheme(common);
      return (base.endsWith("/") ? base.substring(0, base.length() - 1) : base) + path;
    }
    String url = withScheme(configured);
    String given = URI.create(url).getPath();
    return given.isEmpty() || given.equals("/") ? URI.create(url).resolve(path).toString() : url;
  }

  /** The URL for gRPC, which has no path. */
  static String grpc(String own, String common, String configured) {
    return withScheme(own.isEmpty() ? common.isEmpty() ? configured : common : own);
  }

  private static String withScheme(String url) {
    return url.contains("://") ? url : "http://" + url;
  }
}
