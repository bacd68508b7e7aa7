package dev.activator.proxy.policy;

import dev.activator.http.HeaderName;
import dev.activator.http.Fields;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** In which form a caller reads an error: its {@code Accept} decides, and gRPC gets text. */
public enum ErrorFormat {
  TEXT,
  JSON,
  HTML;

  private static final Map<String, String> PROBLEM = Map.of("Content-Type",
      "application/problem+json", "X-Content-Type-Options", "nosniff");
  private static final Map<String, String> PAGE = Map.of("Content-Type",
      "text/html; charset=utf-8", "X-Content-Type-Options", "nosniff", "Content-Security-Policy",
      "default-src 'none'");

  /** The preferred one of those we write; of equals, the first. */
  public static ErrorFormat of(Fields fields) {
    String accept = fields.first(HeaderName.ACCEPT);
    return accept == null || accept.equals("*/*")
        || fields.text(HeaderName.CONTENT_TYPE).startsWith("application/grpc")
            ? TEXT
            : preferred(fields);
  }

  private static ErrorFormat preferred(Fields fields) {
    var best = new Object() {
      ErrorFormat format = TEXT;
      double quality;
    };
    Fields.eachToken(fields.all(HeaderName.ACCEPT), range -> {
      var format = format(range);
      double quality = quality(range);
      if (format != null && quality > best.quality) {
        best.format = format;
        best.quality = quality;
      }
    });
    return best.format;
  }

  private static @Nullable ErrorFormat format(String range) {
    int end = range.indexOf(';');
    var type = (end < 0 ? range : range.substring(0, end)).strip().toLowerCase(Locale.ROOT);
    return switch (type) {
      case "text/html", "application/xhtml+xml" -> HTML;
      case "application/json", "application/problem+json", "application/*" -> JSON;
      case "text/plain", "text/*" -> TEXT;
      default -> type.startsWith("application/") && type.endsWith("+json") ? JSON : null;
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
    return switch (this) {
      case TEXT -> text;
      case JSON -> text.as(PROBLEM, problem(text, cause));
      case HTML -> text.as(PAGE, page(text, cause));
    };
  }

  private static String reason(LocalResponse text) {
    return text.headers().getOrDefault(Failure.REASON, "");
  }

  /** RFC 9457. */
  private static String problem(LocalResponse text, String cause) {
    var json = new StringBuilder("{\"type\":\"about:blank\",\"title\":")
        .append(json(title(text.status()))).append(",\"status\":").append(text.status());
    add(json, "detail", text.body().strip());
    add(json, "reason", reason(text));
    add(json, "cause", cause);
    return json.append("}\n").toString();
  }

  private static void add(StringBuilder to, String name, String value) {
    if (!value.isEmpty()) {
      to.append(",\"").append(name).append("\":").append(json(value));
    }
  }

  static String json(String text) {
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

  private static String page(LocalResponse text, String cause) {
    String title = text.status() + " " + title(text.status());
    var facts = new StringBuilder();
    if (!reason(text).isEmpty()) {
      facts.append("<p>Reason: <code>").append(html(reason(text))).append("</code>")
          .append(cause.isEmpty() ? "" : " (<code>" + html(cause) + "</code>)").append("</p>\n");
    }
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        + "<meta name=\"viewport\" content=\"width=device-width\">\n"
        + "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" + title
        + "</title>\n</head>\n<body>\n<h1>" + title + "</h1>\n<p>" + html(text.body().strip())
        + "</p>\n" + facts + "</body>\n</html>\n";
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
