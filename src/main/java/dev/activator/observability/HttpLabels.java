package dev.activator.observability;

import dev.activator.observability.Metric.Names;
import dev.activator.revision.Destination;
import dev.activator.revision.Revision;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The labels of HTTP metrics. Those that vary by request are also one number ("traits"), to find a
 * series without allocation.
 *
 * <p><b>Source.</b> OpenTelemetry's semantic conventions for HTTP, 1.41.
 */
final class HttpLabels {
  public static final String OTHER = "_OTHER";
  public static final String SERVICE = "serving.knative.dev/service";
  public static final String CONFIGURATION = "serving.knative.dev/configuration";
  private static final List<String> METHODS = List.of(OTHER, "GET", "POST", "PUT", "DELETE", "HEAD",
      "OPTIONS", "PATCH", "TRACE", "CONNECT");
  static final int KINDS = METHODS.size() * 2;
  private static final List<String> VERSIONS = List.of("HTTP/1.1", "HTTP/2.0", "HTTP/1.0");
  private static final int STATUS_BITS = 10;
  private static final int STATUS_MASK = (1 << STATUS_BITS) - 1;
  private static final int SECURE = 1 << STATUS_BITS;
  private static final int VERSION_SHIFT = STATUS_BITS + 1;
  private static final int METHOD_SHIFT = VERSION_SHIFT + 2;

  private HttpLabels() {}

  /** As the caller sees them. */
  static int traits(RequestRecord request, int status) {
    return traits(request, version(request.protocol()), request.secure(), status);
  }

  /** As the pod sees them: never older than HTTP/1.1. */
  static int podTraits(RequestRecord request, int status) {
    return traits(request, version(request.protocol()) == 1 ? 1 : 0, request.podSecure(), status);
  }

  private static int traits(RequestRecord request, int version, boolean secure, int status) {
    return method(request.method()) << METHOD_SHIFT | version << VERSION_SHIFT
        | (secure ? SECURE : 0) | status & STATUS_MASK;
  }

  private static int method(String name) {
    return Math.max(METHODS.indexOf(name), 0);
  }

  /** {@link #OTHER} if HTTP does not define it. */
  public static String methodLabel(String name) {
    return METHODS.get(method(name));
  }

  /** One number for each method and scheme, below {@link #KINDS}. */
  static int kind(RequestRecord request) {
    return method(request.method()) * 2 + (request.secure() ? 1 : 0);
  }

  static Labels ofKind(int kind) {
    return Labels.of("http.request.method", METHODS.get(kind / 2), "url.scheme",
        kind % 2 == 0 ? "http" : "https");
  }

  private static int version(String protocol) {
    return Math.max(VERSIONS.indexOf(protocol), 0);
  }

  static Labels withTraits(Labels labels, int traits) {
    int status = traits & STATUS_MASK;
    var all = labels.merge(Labels.of("http.request.method", METHODS.get(traits >> METHOD_SHIFT),
        "url.scheme", (traits & SECURE) == 0 ? "http" : "https", "network.protocol.name", "http",
        "network.protocol.version",
        VERSIONS.get(traits >> VERSION_SHIFT & 3).substring("HTTP/".length())));
    return status == 0
        ? all
        : all.add("http.response.status_code", Integer.toString(status));
  }

  public static Labels of(@Nullable Revision revision) {
    return revision == null
        ? Labels.EMPTY
        : Labels.of(Names.SERVICE, label(revision, SERVICE), Names.CONFIGURATION,
            label(revision, CONFIGURATION), Names.REVISION, revision.id().name(), Names.NAMESPACE,
            revision.id().namespace());
  }

  public static String label(Revision revision, String name) {
    return revision.labels().getOrDefault(name, "");
  }

  static Labels withPod(Labels labels, Destination pod) {
    return labels.merge(Labels.of("server.address", pod.host(), "server.port",
        Integer.toString(pod.port())));
  }

  /**
   * @param name in lower case, without brackets
   * @param port empty if absent, invalid or the scheme's default
   */
  public record Host(String name, String port) {

    public static Host parse(String text) {
      int bracket = text.lastIndexOf(']');
      int colon = text.indexOf(':', bracket + 1);
      String name = colon < 0 ? text : text.substring(0, colon);
      String port = colon < 0 ? "" : text.substring(colon + 1);
      if (name.startsWith("[") && name.endsWith("]")) {
        name = name.substring(1, name.length() - 1);
      }
      return new Host(name.toLowerCase(Locale.ROOT),
          port.equals("80") || port.equals("443") || !isPort(port) ? "" : port);
    }

    private static boolean isPort(String text) {
      return !text.isEmpty() && text.length() <= 5
          && text.chars().allMatch(digit -> digit >= '0' && digit <= '9')
          && Integer.parseInt(text) <= 65_535;
    }

    Labels addTo(Labels labels) {
      var all = labels.add("server.address", name);
      return port.isEmpty() ? all : all.add("server.port", port);
    }
  }
}
