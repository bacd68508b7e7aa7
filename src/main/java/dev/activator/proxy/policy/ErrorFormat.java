package dev.activator.proxy.policy;

import dev.activator.config.ProxyPageStyle;
import dev.activator.http.HeaderFieldList;
import dev.activator.http.KnownHeader;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The format of an error for a caller, chosen by its {@code Accept}. gRPC gets text.
 *
 * @param requestId the id that a proxy before this one gave the request; empty if none did
 */
public record ErrorFormat(Kind kind, String requestId) {
  public static final ErrorFormat TEXT = new ErrorFormat(Kind.TEXT, "");
  private static final int MAX_ID = 128;

  public enum Kind {
    TEXT,
    JSON,
    HTML
  }

  private static final Map<String, String> PROBLEM = Map.of("Content-Type",
      "application/problem+json", "X-Content-Type-Options", "nosniff");
  private static final Map<String, String> PAGE = Map.of("Content-Type",
      "text/html; charset=utf-8", "X-Content-Type-Options", "nosniff", "Content-Security-Policy",
      "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + ProxyPageStyle.HASH);

  /** The supported form that the caller prefers; of equal ones, the first. */
  public static ErrorFormat of(HeaderFieldList fields) {
    String accept = fields.first(KnownHeader.ACCEPT);
    return accept == null || accept.equals("*/*")
        || fields.text(KnownHeader.CONTENT_TYPE).startsWith("application/grpc")
            ? TEXT
            : new ErrorFormat(preferred(fields), requestId(fields));
  }

  /** {@code X-Request-Id}, or else the trace of {@code traceparent}; may be empty. */
  public static String requestId(HeaderFieldList fields) {
    var own = fields.text(KnownHeader.REQUEST_ID);
    if (!own.isEmpty()) {
      return own.substring(0, Math.min(MAX_ID, own.length()));
    }
    var trace = fields.text(KnownHeader.TRACEPARENT).split("-", 5);
    return trace.length >= 4 ? trace[1] : "";
  }

  private static Kind preferred(HeaderFieldList fields) {
    var best = new Object() {
      Kind format = Kind.TEXT;
      double quality;
    };
    HeaderFieldList.eachToken(fields.all(KnownHeader.ACCEPT), range -> {
      var format = format(range);
      double quality = quality(range);
      if (format != null && quality > best.quality) {
        best.format = format;
        best.quality = quality;
      }
    });
    return best.format;
  }

  private static @Nullable Kind format(String range) {
    int end = range.indexOf(';');
    var type = (end < 0 ? range : range.substring(0, end)).strip().toLowerCase(Locale.ROOT);
    return switch (type) {
      case "text/html", "application/xhtml+xml" -> Kind.HTML;
      case "application/json", "application/problem+json", "application/*" -> Kind.JSON;
      case "text/plain", "text/*" -> Kind.TEXT;
      default -> type.startsWith("application/") && type.endsWith("+json") ? Kind.JSON : null;
    };
  }

  private static double quality(String range) {
    int at = range.replace(" ", "").indexOf(";q=");
    if (at < 0) {
      return 1;
    }
    var text = range.replace(" ", "").substring(at + 3);
    int end = text.indexOf(';');
    try {
      return Double.parseDouble(end < 0 ? text : text.substring(0, end));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /**
   * @param text the error as text
   * @param cause one word; may be empty
   */
  LocalResponse of(LocalResponse text, String cause) {
    return switch (kind) {
      case TEXT -> text;
      case JSON -> text.as(PROBLEM, problem(text, cause, requestId));
      case HTML -> text.as(PAGE, page(text, cause, requestId));
    };
  }

  private static String reason(LocalResponse text) {
    return text.headers().getOrDefault(RequestFailure.REASON, "");
  }

  /** RFC 9457. */
  private static String problem(LocalResponse text, String cause, String requestId) {
    var json = new StringBuilder("{\"type\":\"about:blank\",\"title\":")
        .append(json(title(text.status()))).append(",\"status\":").append(text.status());
    add(json, "detail", text.body().strip());
    add(json, "reason", reason(text));
    add(json, "cause", cause);
    add(json, "requestId", requestId);
    return json.append("}\n").toString();
  }

  private static void add(StringBuilder to, String name, String value) {
    if (!value.isEmpty()) {
      to.append(",\"").append(name).append("\":").append(json(value));
    }
  }

  public static String json(String text) {
    var json = new StringBuilder("\"");
    for (char each : text.toCharArray()) {
      if (each == '"' || each == '\\') {
        json.append('\\').append(each);
      } else if (each < ' ') {
        json.append(String.format("\\u%04x", (int) each));
      } else {
        json.append(each);
      }
    }
    return json.append('"').toString();
  }

  private static String page(LocalResponse text, String cause, String requestId) {
    String title = text.status() + " " + title(text.status());
    var reason = reason(text);
    var message = text.body().strip();
    if (message.startsWith(title + ": ")) {
      message = message.substring(title.length() + 2);
    }
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        + "<meta name=\"robots\" content=\"noindex\">\n"
        + "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" + title + "</title>\n"
        + ProxyPageStyle.ELEMENT + "\n</head>\n<body>\n<main>\n<h1>" + title + "</h1>\n"
        + (message.isEmpty() ? "" : "<p>" + html(message) + "</p>\n") + "<p class=\"todo\">"
        + advice(text.status(), reason, text.headers().getOrDefault("Retry-After", ""))
        + "</p>\n" + (reason.isEmpty()
            ? ""
            : "<p class=\"small\">Reason <code>" + html(reason) + "</code>"
                + (cause.isEmpty() ? "" : " (<code>" + html(cause) + "</code>)") + "</p>\n")
        + requestIdAsHtml(requestId) + "</main>\n</body>\n</html>\n";
  }

  /** A paragraph with the id; empty without an id. */
  public static String requestIdAsHtml(String requestId) {
    return requestId.isEmpty()
        ? ""
        : "<p class=\"small\">Request <code>" + html(requestId) + "</code></p>\n";
  }

  /** Advice for the person at the browser. */
  static String advice(int status, String reason, String retryAfter) {
    var again = retryAfter.isEmpty()
        ? "Try again in a moment."
        : "Try again in " + retryAfter + (retryAfter.equals("1") ? " second." : " seconds.");
    return switch (reason) {
      case "unknown-host" ->
        "Check the address: its host names a service that does not exist here, or no longer.";
      case "revision-gone" ->
        "It was deleted while the request waited. Try again: a newer version may answer.";
      case "pod-gone" -> "What it kept of your session is gone. Begin again.";
      case "queue-full", "memory-full" -> "More requests wait than fit. " + again;
      case "deadline-too-near" -> "It starts more slowly than the caller waits. " + again;
      case "cannot-start" ->
        "It cannot start; trying again does not help before its owner has mended that."
            + " The activator's console says why.";
      case "shutting-down" -> "Try again now: another activator answers.";
      case "unread" -> "The response was not read in time. " + again;
      default -> switch (status) {
        case 400, 417, 431, 501, 505 ->
          "The request cannot be understood. Go back, and delete this site's"
              + " cookies if it happens again.";
        case 404 -> "Check the address: there is no such service here, or no longer.";
        case 502 -> "Its program broke off the connection or does not accept one. " + again
            + " If it stays, its log says why.";
        case 504 -> "It did not answer in time. " + again
            + " If it stays, its owner finds the reason in the activator's console.";
        default -> again;
      };
    };
  }

  public static String html(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        .replace("\"", "&quot;").replace("'", "&#39;");
  }

  private static String title(int status) {
    return switch (status) {
      case 400 -> "Bad Request";
      case 404 -> "Not Found";
      case 417 -> "Expectation Failed";
      case 431 -> "Request Header Fields Too Large";
      case 500 -> "Internal Server Error";
      case 501 -> "Not Implemented";
      case 502 -> "Bad Gateway";
      case 503 -> "Service Unavailable";
      case 504 -> "Gateway Timeout";
      case 505 -> "HTTP Version Not Supported";
      default -> "Error";
    };
  }
}
