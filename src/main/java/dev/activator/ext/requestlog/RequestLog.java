package dev.activator.ext.requestlog;

import dev.activator.ext.requestlog.template.GoTemplate;
import dev.activator.ext.requestlog.template.TemplateFunctions;
import dev.activator.observability.AsyncLineWriter;
import dev.activator.observability.HttpLabels;
import dev.activator.observability.RequestObserver;
import dev.activator.observability.RequestObservers;
import dev.activator.observability.RequestTimeline;
import dev.activator.observability.RequestTimeline.Attribute;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.Revision;
import dev.activator.template.GoTemplateException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the request log, with a line for each request. The template is the one that was set when
 * the request arrived.
 *
 * <p><b>Threads.</b> One at a time changes the template; requests run on any.
 *
 * <p><b>Errors.</b> A template that cannot be used is logged, and changes nothing.
 *
 * <p><b>Source.</b> {@code request_log.go} of {@code knative.dev/pkg}; but the status after a 1xx
 * is the final one, the trace is named, and a response that was cut off has the status of the
 * cause.
 */
final class RequestLog implements RequestObserver {
  private static final Logger log = LoggerFactory.getLogger(RequestLog.class);
  private static final Attribute<GoTemplate> TEMPLATE = new Attribute<>();

  private final RequestObservers observers;
  private final AsyncLineWriter out;
  private boolean observes;
  private volatile @Nullable GoTemplate template;

  RequestLog(RequestObservers observers, AsyncLineWriter out) {
    this.observers = observers;
    this.out = out;
  }

  static GoTemplate template(String text) throws GoTemplateException {
    return GoTemplate.parse(text, RequestLogFields.ABSENT);
  }

  /** Sets the template of the requests that arrive from now on; without one they are not logged. */
  void use(Optional<String> next) {
    if (next.isPresent() && !observes) {
      // Added only when needed, because each observer costs every request some time.
      observes = true;
      observers.add(this);
    }
    try {
      template = next.isEmpty() ? null : template(next.get());
    } catch (GoTemplateException e) {
      log.error(
          "logging.request-log-template cannot be used, so the request log stays as it was: {}",
          e.getMessage());
    }
  }

  @Override
  public void saw(Step step, RequestTimeline request) {
    var current = template;
    if (step == Step.ARRIVED && current != null && request.revision() != null) {
      TEMPLATE.set(request, current);
    } else if (step == Step.ENDED) {
      var own = TEMPLATE.of(request);
      if (own != null) {
        out.write(line(own, request));
      }
    }
  }

  private static String line(GoTemplate template, RequestTimeline request) {
    String text;
    try {
      text = template.fill(new RequestLogFields(request));
    } catch (GoTemplateException e) {
      text = "Invalid request log template: method: " + request.method() + ", response code: "
          + request.status() + ", latency: "
          + TemplateFunctions.number(RequestLogFields.seconds(request)) + ", url: "
          + request.target();
    }
    return text.endsWith("\n") ? text : text + "\n";
  }

  /**
   * The fields of a request that a template of the request log may use.
   *
   * <p><b>Source.</b> {@code RequestLogTemplateInput} of {@code knative.dev/pkg}, and Go's
   * {@code http.Request}, {@code http.Header}, {@code url.URL} and {@code url.Values}.
   */
  record RequestLogFields(RequestTimeline request) implements GoTemplate.Fields {
    /** Fields that exist only in Go's requests. */
    static final Set<String> ABSENT = Set.of("Request.Body", "Request.GetBody", "Request.Close",
        "Request.Form", "Request.FormValue", "Request.PostForm", "Request.PostFormValue",
        "Request.MultipartForm", "Request.Trailer", "Request.TransferEncoding",
        "Request.TLS.Version", "Request.TLS.HandshakeComplete", "Request.TLS.DidResume",
        "Request.TLS.CipherSuite", "Request.TLS.CurveID", "Request.TLS.NegotiatedProtocol",
        "Request.TLS.ServerName", "Request.TLS.PeerCertificates", "Request.TLS.VerifiedChains",
        "Request.TLS.TLSUnique", "Request.Cancel", "Request.Response", "Request.Pattern",
        "Request.PathValue",
        "Request.Context", "Request.Cookie", "Request.Cookies", "Request.BasicAuth",
        "Request.URL.User", "Request.URL.Opaque", "Request.URL.Fragment", "Request.URL.RawPath",
        "Request.URL.Hostname", "Request.URL.Port", "Request.URL.IsAbs");
    /** Go's servers remove these from the header. */
    private static final Set<String> NOT_IN_HEADER = Set.of("Host", "Transfer-Encoding");
    private static final String HEADER = "Request.Header.";
    private static final String QUERY = "Request.URL.Query.";

    static double seconds(RequestTimeline request) {
      return (request.endedNanos() - request.arrivedNanos()) / 1e9;
    }

    @Override
    public Object value(String path, List<Object> arguments) throws GoTemplateException {
      if (path.startsWith(HEADER)) {
        return method(path.substring(HEADER.length()), arguments, this::header);
      }
      if (path.startsWith(QUERY)) {
        return method(path.substring(QUERY.length()), arguments, this::parameters);
      }
      if (!arguments.isEmpty()) {
        throw new GoTemplateException(path + " takes no arguments");
      }
      return switch (path) {
        case "Request.Method" -> request.method();
        case "Request.URL", "Request.URL.String", "Request.RequestURI" -> request.target();
        case "Request.URL.Path" -> Objects.requireNonNullElse(decoded(path().replace("+", "%2B")),
            path());
        case "Request.URL.EscapedPath" -> path();
        case "Request.URL.RawQuery" -> query();
        case "Request.URL.RequestURI" -> path() + request.target().substring(pathEnd());
        case "Request.URL.Host" -> request.target().substring(authorityBegin(), pathBegin());
        case "Request.URL.Scheme" ->
          request.target().substring(0, Math.max(0, authorityBegin() - 3));
        case "Request.URL.Query" -> (GoTemplate.Mapping) this::parameters;
        case "Request.Host" -> request.host();
        case "Request.Proto" -> request.protocol();
        case "Request.ProtoMajor" -> version(0);
        case "Request.ProtoMinor" -> version(2);
        case "Request.ContentLength" -> contentLength();
        case "Request.TLS" -> new GoTemplate.Pointer(!request.secure());
        case "Request.RemoteAddr" -> remoteAddress();
        case "Request.UserAgent" -> first("User-Agent");
        case "Request.Referer" -> first("Referer");
        case "Request.Header" -> (GoTemplate.Mapping) this::header;
        case "Response.Code" -> (long) request.status();
        case "Response.Size" -> request.responseBytes();
        case "Response.Latency" -> seconds(request);
        case "TraceID" -> traceId();
        default -> ofRevision(path, request.revision());
      };
    }

    /** The digit of the version of HTTP; 0 if the connection is not HTTP. */
    private long version(int digit) {
      var protocol = request.protocol();
      int at = "HTTP/".length() + digit;
      return at < protocol.length() ? protocol.charAt(at) - '0' : 0;
    }

    private static String ofRevision(String path, @Nullable Revision revision)
        throws GoTemplateException {
      if (revision == null) {
        throw new GoTemplateException("there is no ." + path);
      }
      return switch (path) {
        case "Revision.Name" -> revision.id().name();
        case "Revision.Namespace" -> revision.id().namespace();
        case "Revision.Service" -> HttpLabels.label(revision, KnownLabels.SERVICE);
        case "Revision.Configuration" -> HttpLabels.label(revision, KnownLabels.CONFIGURATION);
        case "Revision.PodName", "Revision.PodIP" -> "";
        default -> throw new GoTemplateException("there is no ." + path);
      };
    }

    /** The value of a method of a header or a query. */
    private static Object method(String name, List<Object> arguments, GoTemplate.Mapping values)
        throws GoTemplateException {
      if (arguments.size() != 1 || !(arguments.getFirst() instanceof String key)) {
        throw new GoTemplateException(name + " takes one text");
      }
      var all = values.at(key);
      return switch (name) {
        case "Get" -> all.isEmpty() ? "" : all.getFirst();
        case "Values" -> all;
        case "Has" -> !all.isEmpty();
        default -> throw new GoTemplateException("there is no ." + name);
      };
    }

    private List<String> header(String name) {
      return NOT_IN_HEADER.stream().anyMatch(name::equalsIgnoreCase)
          ? List.of()
          : request.headers(name);
    }

    private String first(String name) {
      var value = request.header(name);
      return value == null ? "" : value;
    }

    /** The length of the body; -1 if it was not announced. */
    private long contentLength() {
      var announced = request.header("Content-Length");
      if (announced != null) {
        return Long.parseLong(announced);
      }
      boolean streamed = request.header("Transfer-Encoding") != null || request.requestBytes() > 0;
      return streamed ? -1 : 0;
    }

    private String remoteAddress() {
      String peer = request.peer();
      return (peer.indexOf(':') < 0 ? peer : "[" + peer + "]") + ":" + request.peerPort();
    }

    /**
     * The id of the request's trace; may be empty.
     *
     * <p><b>Source.</b> {@code TraceID} of {@code knative.dev/pkg}: W3C's header wins over Zipkin's.
     */
    private String traceId() {
      var trace = request.trace();
      if (trace != null) {
        return trace.traceId();
      }
      String[] fields = first("traceparent").split("-", 5);
      return fields.length >= 4 && !fields[1].isEmpty() ? fields[1] : first("X-B3-TraceId");
    }

    /** The position of the authority; 0 if there is none, because the target is only a path. */
    private int authorityBegin() {
      var target = request.target();
      int scheme = target.startsWith("/") ? -1 : target.indexOf("://");
      return scheme < 0 ? 0 : scheme + 3;
    }

    private int pathBegin() {
      int authority = authorityBegin();
      int path = authority == 0 ? 0 : request.target().indexOf('/', authority);
      return path < 0 ? pathEnd() : Math.min(path, pathEnd());
    }

    private int pathEnd() {
      int query = request.target().indexOf('?');
      return query < 0 ? request.target().length() : query;
    }

    private String path() {
      return request.target().substring(pathBegin(), pathEnd());
    }

    private String query() {
      return request.target().substring(Math.min(pathEnd() + 1, request.target().length()));
    }

    private List<String> parameters(String key) {
      var values = new ArrayList<String>();
      for (String pair : query().split("&")) {
        String[] sides = pair.split("=", 2);
        String name = decoded(sides[0]);
        String value = sides.length < 2 ? "" : decoded(sides[1]);
        // Like Go, skips parameters with a semicolon or a malformed escape.
        if (!pair.isEmpty() && pair.indexOf(';') < 0 && key.equals(name) && value != null) {
          values.add(value);
        }
      }
      return values;
    }

    /** The text without percent-encoding; null if an escape is malformed. */
    private static @Nullable String decoded(String text) {
      try {
        return text.indexOf('%') < 0 && text.indexOf('+') < 0
            ? text
            : URLDecoder.decode(text, StandardCharsets.UTF_8);
      } catch (IllegalArgumentException e) {
        return null;
      }
    }
  }
}
