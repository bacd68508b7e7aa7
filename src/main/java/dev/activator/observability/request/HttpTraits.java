package dev.activator.observability.request;

import dev.activator.observability.meter.Metric.Names;
import dev.activator.observability.meter.Tags;
import dev.activator.revision.Revision;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the meters of HTTP tell requests apart by, besides who was asked: as one small number, which
 * is found without making anything, and as tags.
 *
 * <p>
 * <b>Source.</b> OpenTelemetry's semantic conventions for HTTP, 1.41.
 */
public final class HttpTraits {
  public static final String OTHER = "_OTHER";
  public static final String SERVICE_LABEL = "serving.knative.dev/service";
  public static final String CONFIGURATION_LABEL = "serving.knative.dev/configuration";
  private static final List<String> METHODS = List.of(OTHER, "GET", "POST", "PUT", "DELETE", "HEAD",
      "OPTIONS", "PATCH", "TRACE", "CONNECT");
  private static final List<String> VERSIONS = List.of("1.1", "2.0", "1.0");
  private static final int STATUS_BITS = 10;
  private static final int STATUS_MASK = (1 << STATUS_BITS) - 1;
  private static final int SECURE = 1 << STATUS_BITS;
  private static final int VERSION_SHIFT = STATUS_BITS + 1;
  private static final int METHOD_SHIFT = VERSION_SHIFT + 2;

  private HttpTraits() {}

  /** The number of a request that ended with this status. */
  static int key(RequestRecord request, int status) {
    return method(request.method()) << METHOD_SHIFT | version(request.protocol()) << VERSION_SHIFT
        | (request.secure() ? SECURE : 0) | status & STATUS_MASK;
  }

  /** As the other, of what goes to pods: never in a version older than 1.1. */
  static int podKey(RequestRecord request, int status) {
    int version = version(request.protocol()) == 1 ? 1 : 0;
    return method(request.method()) << METHOD_SHIFT | version << VERSION_SHIFT
        | (request.podSecure() ? SECURE : 0) | status & STATUS_MASK;
  }

  private static int method(String name) {
    return switch (name) {
      case "GET" -> 1;
      case "POST" -> 2;
      case "PUT" -> 3;
      case "DELETE" -> 4;
      case "HEAD" -> 5;
      case "OPTIONS" -> 6;
      case "PATCH" -> 7;
      case "TRACE" -> 8;
      case "CONNECT" -> 9;
      default -> 0;
    };
  }

  private static int version(String protocol) {
    return switch (protocol) {
      case "HTTP/2.0" -> 1;
      case "HTTP/1.0" -> 2;
      default -> 0;
    };
  }

  /** The tags of a number; a status of 0 is none. */
  static Tags tags(Tags asked, int key) {
    var tags = asked.and("http.request.method", METHODS.get(key >> METHOD_SHIFT))
        .and("url.scheme", (key & SECURE) == 0 ? "http" : "https")
        .and("network.protocol.name", "http")
        .and("network.protocol.version", VERSIONS.get(key >> VERSION_SHIFT & 3));
    int status = key & STATUS_MASK;
    return status == 0
        ? tags
        : tags.and("http.response.status_code", Integer.toString(status));
  }

  /** Who is asked, in four tags; none where there is no such revision. */
  public static Tags of(@Nullable Revision revision) {
    return revision == null
        ? Tags.NONE
        : Tags.of(Names.SERVICE, label(revision, SERVICE_LABEL))
            .and(Names.CONFIGURATION, label(revision, CONFIGURATION_LABEL))
            .and(Names.REVISION, revision.id().name())
            .and(Names.NAMESPACE, revision.id().namespace());
  }

  public static String label(Revision revision, String name) {
    return revision.labels().getOrDefault(name, "");
  }
}
