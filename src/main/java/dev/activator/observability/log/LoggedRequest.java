package dev.activator.observability.log;

import dev.activator.observability.request.HttpLabels;
import dev.activator.observability.request.RequestRecord;
import dev.activator.observability.request.TraceId;
import dev.activator.observability.template.GoText;
import dev.activator.observability.template.Values;
import dev.activator.revision.Revision;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the template of a request log may ask of a request.
 *
 * @param request one of a revision, that has ended
 */
record LoggedRequest(RequestRecord request) implements Values {

  @Override
  public @Nullable String field(String path) {
    return switch (path) {
      case "Request.Method" -> request.method();
      case "Request.URL", "Request.RequestURI" -> request.target();
      case "Request.Host" -> request.host();
      case "Request.Proto" -> request.protocol();
      case "Request.ContentLength" -> contentLength();
      case "Request.RemoteAddr" -> remoteAddress();
      case "Request.UserAgent" -> first("User-Agent");
      case "Request.Referer" -> first("Referer");
      case "Response.Code" -> Integer.toString(request.status());
      case "Response.Size" -> Long.toString(request.responseBytes());
      case "Response.Latency" -> GoText.number(seconds(request));
      case "Revision.PodName", "Revision.PodIP" -> "";
      case "TraceID" -> TraceId.of(request);
      default -> revision(path);
    };
  }

  private @Nullable String revision(String path) {
    var revision = request.revision();
    return revision == null ? null : revision(revision, path);
  }

  private static @Nullable String revision(Revision revision, String path) {
    return switch (path) {
      case "Revision.Name" -> revision.id().name();
      case "Revision.Namespace" -> revision.id().namespace();
      case "Revision.Service" -> HttpLabels.label(revision, HttpLabels.SERVICE);
      case "Revision.Configuration" -> HttpLabels.label(revision, HttpLabels.CONFIGURATION);
      default -> null;
    };
  }

  @Override
  public List<String> header(String name) {
    return request.headers(name);
  }

  private String first(String name) {
    var value = request.header(name);
    return value == null ? "" : value;
  }

  /** What the caller announced; -1 where it did not. */
  private String contentLength() {
    var announced = request.header("Content-Length");
    if (announced != null) {
      return announced;
    }
    boolean streamed = request.header("Transfer-Encoding") != null || request.requestBytes() > 0;
    return streamed ? "-1" : "0";
  }

  private String remoteAddress() {
    String peer = request.peer();
    return (peer.indexOf(':') < 0 ? peer : "[" + peer + "]") + ":" + request.peerPort();
  }

  static double seconds(RequestRecord request) {
    return (request.endedNanos() - request.arrivedNanos()) / 1e9;
  }
}
