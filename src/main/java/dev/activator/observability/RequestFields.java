package dev.activator.observability;

import dev.activator.config.TemplateException;
import dev.activator.observability.Template.Mapping;
import dev.activator.observability.Template.Struct;
import dev.activator.revision.Revision;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * <b>Source.</b> {@code RequestLogTemplateInput} of {@code knative.dev/pkg}, and Go's
 * {@code http.Request}, {@code http.Header}, {@code url.URL} and {@code url.Values}.
 */
record RequestFields(RequestRecord request) implements Struct {
  /** Fields that only Go's requests have. */
  static final Set<String> ABSENT = Set.of("Request.Body", "Request.GetBody", "Request.Close",
      "Request.Form", "Request.FormValue", "Request.PostForm", "Request.PostFormValue",
      "Request.MultipartForm", "Request.Trailer", "Request.TransferEncoding", "Request.TLS",
      "Request.Cancel", "Request.Response", "Request.Pattern", "Request.PathValue",
      "Request.Context", "Request.Cookie", "Request.Cookies", "Request.BasicAuth",
      "Request.URL.User", "Request.URL.Opaque", "Request.URL.Fragment");
  /** Go's servers remove these from the header. */
  private static final Set<String> NOT_IN_HEADER = Set.of("Host", "Transfer-Encoding");

  static double seconds(RequestRecord request) {
    return (request.endedNanos() - request.arrivedNanos()) / 1e9;
  }

  @Override
  public @Nullable Object member(String name, List<@Nullable Object> arguments)
      throws TemplateException {
    return switch (name) {
      case "Request" -> fields(this::ofRequest);
      case "Response" -> fields(this::ofResponse);
      case "Revision" -> fields(this::ofRevision);
      case "TraceID" -> traceId();
      default -> throw absent(name);
    };
  }

  @FunctionalInterface
  private interface Members {
    @Nullable Object of(String name) throws TemplateException;
  }

  /** Members take no arguments. */
  private static Struct fields(Members fields) {
    return (name, arguments) -> {
      if (!arguments.isEmpty()) {
        throw new TemplateException(name + " takes no arguments");
      }
      return fields.of(name);
    };
  }

  private static TemplateException absent(String name) {
    return new TemplateException("there is no ." + name);
  }

  private Object ofRequest(String name) throws TemplateException {
    return switch (name) {
      case "Method" -> request.method();
      case "URL" -> new Url(request.target());
      case "RequestURI" -> request.target();
      case "Host" -> request.host();
      case "Proto" -> request.protocol();
      case "ProtoMajor" -> (long) request.protocol().codePointAt("HTTP/".length()) - '0';
      case "ProtoMinor" ->
        (long) request.protocol().codePointAt(request.protocol().length() - 1) - '0';
      case "ContentLength" -> contentLength();
      case "RemoteAddr" -> remoteAddress();
      case "UserAgent" -> first("User-Agent");
      case "Referer" -> first("Referer");
      case "Header" -> new Values(this::header, this::headers);
      default -> throw absent(name);
    };
  }

  private Object ofResponse(String name) throws TemplateException {
    return switch (name) {
      case "Code" -> (long) request.status();
      case "Size" -> request.responseBytes();
      case "Latency" -> seconds(request);
      default -> throw absent(name);
    };
  }

  private String ofRevision(String name) throws TemplateException {
    Revision revision = request.revision();
    if (revision == null) {
      throw absent(name);
    }
    return switch (name) {
      case "Name" -> revision.id().name();
      case "Namespace" -> revision.id().namespace();
      case "Service" -> HttpLabels.label(revision, HttpLabels.SERVICE);
      case "Configuration" -> HttpLabels.label(revision, HttpLabels.CONFIGURATION);
      case "PodName", "PodIP" -> "";
      default -> throw absent(name);
    };
  }

  private List<String> header(String name) {
    return NOT_IN_HEADER.stream().anyMatch(name::equalsIgnoreCase)
        ? List.of()
        : request.headers(name);
  }

  private SortedMap<String, List<String>> headers() {
    var all = new TreeMap<String, List<String>>();
    for (var name : request.headerNames()) {
      var values = header(name);
      if (!values.isEmpty()) {
        all.put(canonical(name), values);
      }
    }
    return all;
  }

  /** As Go: each word is capitalized. */
  private static String canonical(String name) {
    var to = new StringBuilder(name.length());
    boolean first = true;
    for (char c : name.toCharArray()) {
      to.append(first ? Character.toUpperCase(c) : Character.toLowerCase(c));
      first = c == '-';
    }
    return to.toString();
  }

  private String first(String name) {
    var value = request.header(name);
    return value == null ? "" : value;
  }

  /** -1 if not announced. */
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
   * May be empty.
   *
   * <p><b>Source.</b> {@code TraceID} of {@code knative.dev/pkg}: W3C's header wins over Zipkin's.
   */
  private String traceId() {
    var spans = request.spans;
    if (spans != null) {
      return spans.traceId();
    }
    String[] fields = first("traceparent").split("-", -1);
    return fields.length >= 4 && !fields[1].isEmpty() ? fields[1] : first("X-B3-TraceId");
  }

  /** @param target path and query, or a whole URL */
  private record Url(String target) implements Struct {
    private String path() {
      int end = target.indexOf('?');
      String whole = end < 0 ? target : target.substring(0, end);
      int host = whole.startsWith("/") ? -1 : whole.indexOf("://");
      int path = host < 0 ? 0 : whole.indexOf('/', host + 3);
      return path < 0 ? "" : whole.substring(path);
    }

    private String authority() {
      int host = target.startsWith("/") ? -1 : target.indexOf("://");
      return host < 0 ? "" : target.substring(host + 3).split("[/?]", 2)[0];
    }

    private String query() {
      int begin = target.indexOf('?');
      return begin < 0 ? "" : target.substring(begin + 1);
    }

    @Override
    public Object member(String name, List<@Nullable Object> arguments) throws TemplateException {
      if (!arguments.isEmpty()) {
        throw new TemplateException(name + " takes no arguments");
      }
      return switch (name) {
        case "Path" -> Objects.requireNonNullElse(decoded(path().replace("+", "%2B")), path());
        case "RawPath" -> "";
        case "EscapedPath" -> path();
        case "RawQuery" -> query();
        case "Query" -> {
          var all = parameters();
          yield new Values(key -> all.getOrDefault(key, List.of()), () -> all);
        }
        case "Host" -> authority();
        case "Hostname" -> authority().replaceFirst(":\\d*$", "").replaceAll("^\\[|]$", "");
        case "Port" -> authority().replaceFirst("^.*?(:(\\d*))?$", "$2");
        case "Scheme" -> authority().isEmpty() ? "" : target.substring(0, target.indexOf(':'));
        case "IsAbs" -> !authority().isEmpty();
        case "RequestURI" -> path() + (target.indexOf('?') < 0 ? "" : "?" + query());
        case "String" -> target;
        default -> throw absent(name);
      };
    }

    private SortedMap<String, List<String>> parameters() {
      var all = new TreeMap<String, List<String>>();
      for (String pair : query().split("&")) {
        String[] sides = pair.split("=", 2);
        String name = decoded(sides[0]);
        String value = sides.length < 2 ? "" : decoded(sides[1]);
        // As Go: skips parameters with a semicolon or a malformed escape.
        if (!pair.isEmpty() && pair.indexOf(';') < 0 && name != null && value != null) {
          all.computeIfAbsent(name, _ -> new ArrayList<>()).add(value);
        }
      }
      return all;
    }

    /** Null if an escape is malformed. */
    private static @Nullable String decoded(String text) {
      try {
        return text.indexOf('%') < 0 && text.indexOf('+') < 0
            ? text
            : URLDecoder.decode(text, StandardCharsets.UTF_8);
      } catch (IllegalArgumentException malformed) {
        return null;
      }
    }

    @Override
    public Object printed() {
      return target;
    }
  }

  /** Headers, or query parameters. */
  private record Values(Function<String, List<String>> one,
      Supplier<SortedMap<String, List<String>>> whole) implements Mapping {
    @Override
    public SortedMap<String, List<String>> all() {
      return whole.get();
    }

    @Override
    public List<String> at(String key) {
      return one.apply(key);
    }

    @Override
    public Object member(String name, List<@Nullable Object> arguments) throws TemplateException {
      if (arguments.size() != 1 || !(arguments.getFirst() instanceof String key)) {
        throw new TemplateException(name + " takes one text");
      }
      var values = at(key);
      return switch (name) {
        case "Get" -> values.isEmpty() ? "" : values.getFirst();
        case "Values" -> values;
        case "Has" -> !values.isEmpty();
        default -> throw absent(name);
      };
    }
  }
}
