package dev.activator.observability;

import static io.prometheus.metrics.model.snapshots.PrometheusNaming.prometheusName;

import dev.activator.observability.MetricDefinition.Names;
import dev.activator.revision.Destination;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.Revision;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The labels of HTTP metrics. Those that vary by request are also encoded in one number (the
 * "traits"), by which a series is found without allocation.
 *
 * <p><b>Source.</b> OpenTelemetry's semantic conventions for HTTP, 1.41.
 */
public final class HttpLabels {
  public static final String OTHER = "_OTHER";
  /** The label of the series that everything beyond the limits shares. */
  public static final String OVERFLOW_NAME = "otel.metric.overflow";
  private static final List<String> METHODS = List.of(OTHER, "GET", "POST", "PUT", "DELETE", "HEAD",
      "OPTIONS", "PATCH", "TRACE", "CONNECT");
  static final int KINDS = METHODS.size() * 2;
  private static final List<String> VERSIONS = List.of("HTTP/1.1", "HTTP/2.0", "HTTP/1.0");
  // Names in Prometheus's form. With dots, every Labels would keep converted copies, which were a
  // tenth of the heap with 5,000 busy revisions.
  public static final String NAMESPACE = prometheusName(Names.NAMESPACE);
  public static final String REVISION = prometheusName(Names.REVISION);
  private static final String SERVICE_NAME = prometheusName(Names.SERVICE);
  private static final String CONFIGURATION_NAME = prometheusName(Names.CONFIGURATION);
  private static final String ADDRESS = prometheusName("server.address");
  private static final String PORT = prometheusName("server.port");
  private static final String METHOD = prometheusName("http.request.method");
  private static final String SCHEME = prometheusName("url.scheme");
  private static final String PROTOCOL = prometheusName("network.protocol.name");
  private static final String PROTOCOL_VERSION = prometheusName("network.protocol.version");
  private static final String STATUS = prometheusName("http.response.status_code");
  private static final String ERROR = prometheusName("error.type");
  private static final String OVERFLOW = prometheusName(OVERFLOW_NAME);
  private static final int STATUS_BITS = 10;
  private static final int STATUS_MASK = (1 << STATUS_BITS) - 1;
  private static final int SECURE = 1 << STATUS_BITS;
  private static final int VERSION_SHIFT = STATUS_BITS + 1;
  private static final int METHOD_SHIFT = VERSION_SHIFT + 2;
  private static final int MAX_KEPT = 256;
  /**
   * The labels of traits, shared by all revisions. Their number is limited, because callers and
   * pods choose methods and statuses.
   */
  private static final Map<Integer, Labels> BY_TRAITS = new ConcurrentHashMap<>();

  private HttpLabels() {}

  /** The traits of a request between the caller and the activator. */
  static int traits(RequestTimeline request, int status) {
    return traits(request, version(request.protocol()), request.secure(), status);
  }

  /**
   * The traits of a request between the activator and the pod. The version is never older than
   * HTTP/1.1.
   */
  static int podTraits(RequestTimeline request, int status) {
    return traits(request, request.podInHttp2() ? 1 : 0, request.podSecure(), status);
  }

  private static int traits(RequestTimeline request, int version, boolean secure, int status) {
    return method(request.method()) << METHOD_SHIFT | version << VERSION_SHIFT
        | (secure ? SECURE : 0) | status & STATUS_MASK;
  }

  private static int method(String name) {
    return Math.max(METHODS.indexOf(name), 0);
  }

  /** The label of a method; {@link #OTHER} if HTTP does not define the method. */
  public static String methodLabel(String name) {
    return METHODS.get(method(name));
  }

  /** A number for the method and the scheme, below {@link #KINDS}. */
  static int kind(RequestTimeline request) {
    return method(request.method()) * 2 + (request.secure() ? 1 : 0);
  }

  static Labels ofKind(int kind) {
    return Labels.of(METHOD, METHODS.get(kind / 2), SCHEME, kind % 2 == 0 ? "http" : "https");
  }

  private static int version(String protocol) {
    return Math.max(VERSIONS.indexOf(protocol), 0);
  }

  static Labels withTraits(Labels labels, int traits) {
    var known = BY_TRAITS.get(traits);
    if (known == null) {
      known = ofTraits(traits);
      if (BY_TRAITS.size() < MAX_KEPT) {
        BY_TRAITS.put(traits, known);
      }
    }
    return labels.merge(known);
  }

  private static Labels ofTraits(int traits) {
    int status = traits & STATUS_MASK;
    var all = Labels.of(METHOD, METHODS.get(traits >> METHOD_SHIFT), SCHEME,
        (traits & SECURE) == 0 ? "http" : "https", PROTOCOL, "http", PROTOCOL_VERSION,
        VERSIONS.get(traits >> VERSION_SHIFT & 3).substring("HTTP/".length()));
    return status == 0 ? all : all.add(STATUS, Integer.toString(status));
  }

  public static Labels of(@Nullable Revision revision) {
    return revision == null
        ? Labels.EMPTY
        : Labels.of(SERVICE_NAME, label(revision, KnownLabels.SERVICE), CONFIGURATION_NAME,
            label(revision, KnownLabels.CONFIGURATION), REVISION, revision.id().name(), NAMESPACE,
            revision.id().namespace());
  }

  public static String label(Revision revision, String name) {
    return revision.labels().getOrDefault(name, "");
  }

  static Labels withPod(Labels labels, Destination pod) {
    return labels.merge(Labels.of(ADDRESS, pod.host(), PORT, Integer.toString(pod.port())));
  }

  /** The labels that all hosts beyond the limit share. */
  static Labels withOtherHost(Labels labels) {
    return labels.add(ADDRESS, OTHER);
  }

  static Labels withError(Labels labels, String type) {
    return labels.add(ERROR, type);
  }

  /** The labels that all series beyond the limits share. */
  static Labels ofOverflow(Labels labels) {
    return labels.add(OVERFLOW, "true");
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
      var all = labels.add(ADDRESS, name);
      return port.isEmpty() ? all : all.add(PORT, port);
    }
  }
}
