package dev.activator.proxy.policy;

import dev.activator.proxy.policy.field.Field;
import dev.activator.proxy.policy.field.Fields;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An ingress or the autoscaler asks whether requests come through to here.
 *
 * <p>
 * <b>Source.</b> {@code NewHandler} in Knative networking's {@code probe_handler.go} and {@code
 * ProbeHandler} of the activator.
 */
public final class NetworkProbe {
  private NetworkProbe() {}

  /** The answer to a probe; null if the request is none. */
  public static @Nullable Answer answer(Fields fields) {
    String kind = fields.text(Field.NETWORK_PROBE);
    return switch (kind) {
      case "" -> null;
      case "probe" -> echo(fields.text(Field.NETWORK_HASH));
      case "activator" -> Answer.plain(200, "activator");
      default -> Answer.error(400,
          "unexpected probe header value: \"" + shown(kind) + "\"");
    };
  }

  private static Answer echo(String hash) {
    return hash.isEmpty()
        ? Answer.error(400,
            "a probe request must contain a non-empty \"K-Network-Hash\" header")
        : new Answer(200, Map.of("K-Network-Hash", hash), "");
  }

  /** As Go shows it: escaped for HTML, then for a quoted string. */
  private static String shown(String value) {
    var text = new StringBuilder();
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '&' -> text.append("&amp;");
        case '<' -> text.append("&lt;");
        case '>' -> text.append("&gt;");
        case '"' -> text.append("&#34;");
        case '\'' -> text.append("&#39;");
        case '\\' -> text.append("\\\\");
        case '\t' -> text.append("\\t");
        default -> text.append(c);
      }
    }
    return text.toString();
  }
}
