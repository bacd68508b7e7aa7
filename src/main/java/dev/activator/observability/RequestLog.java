package dev.activator.observability;

import dev.activator.config.TemplateException;
import dev.activator.revision.Revision;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes a line for each request, by a template that may change at any time. The one that was in use
 * when a request arrived is used for it.
 *
 * <p>
 * <b>Threads.</b> Any may call.
 *
 * <p>
 * <b>Source.</b> {@code request_log.go} of {@code knative.dev/pkg}. Unlike it, the status after a 1xx
 * is the final one, the trace is named, and a response that was broken off has the status of what
 * broke it.
 */
public final class RequestLog implements RequestObserver {
  private final LineWriter out;
  private volatile @Nullable Template template;

  public RequestLog(LineWriter out) {
    this.out = out;
  }

  /** From now on lines are like this; empty for none. */
  public void use(Optional<Template> next) {
    template = next.orElse(null);
  }

  @Override
  public void saw(Step step, RequestRecord request) {
    if (step == Step.ARRIVED && request.revision() != null) {
      request.line = template;
    } else if (step == Step.ENDED && request.line != null) {
      out.write(line(request.line, request));
    }
  }

  private static String line(Template template, RequestRecord request) {
    String text;
    try {
      text = template.fill(new Fields(request));
    } catch (TemplateException invalid) {
      text = "Invalid request log template: method: " + request.method() + ", response code: "
          + request.status() + ", latency: " + latency(request) + ", url: " + request.target();
    }
    return text.endsWith("\n") ? text : text + "\n";
  }

  /** In seconds, as Go prints them. */
  private static String latency(RequestRecord request) {
    return GoText.number((request.endedNanos() - request.arrivedNanos()) / 1e9);
  }

  /** The fields of a request that has ended, for templates. */
  private record Fields(RequestRecord request) implements Template.Values {

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
        case "Response.Latency" -> latency(request);
        case "Revision.PodName", "Revision.PodIP" -> "";
        case "TraceID" -> traceId();
        default -> revision(path);
      };
    }

    private @Nullable String revision(String path) {
      Revision revision = request.revision();
      return revision == null ? null : switch (path) {
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

    /**
     * That of its span, or else of its headers; empty if they have none.
     *
     * <p>
     * <b>Source.</b> {@code TraceID} of {@code knative.dev/pkg}: W3C's header wins over Zipkin's.
     */
    private String traceId() {
      var spans = request.spans;
      if (spans != null) {
        return spans.traceId();
      }
      String[] fields = first("traceparent").split("-", -1);
      return fields.length >= 4 && !fields[1].isEmpty() ? fields[1] : first("X-B3-TraceId");
    }
  }
}
