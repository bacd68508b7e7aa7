package dev.activator.proxy.policy;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Requests that ask about this process, and the answers to them.
 *
 * <p>
 * <b>Source.</b> {@code HealthHandler} in Knative's {@code healthz/handler.go}: every sender of such
 * a header gets the answer. {@code NewHandler} in Knative networking's {@code probe_handler.go} and
 * {@code ProbeHandler} of the activator.
 */
public final class Probes {
  private Probes() {}

  /** Whether the kubelet asks if this process is alive and ready. */
  public static boolean isFromKubelet(Fields fields) {
    String agent = fields.first(Field.USER_AGENT);
    return (agent != null && agent.startsWith("kube-probe/"))
        || !fields.text(Field.KUBELET_PROBE).isEmpty();
  }

  /** The answer to the kubelet; {@code problem} is null if the process is ready. */
  public static LocalResponse toKubelet(@Nullable String problem) {
    return problem == null ? LocalResponse.empty(200) : LocalResponse.error(500, problem);
  }

  /** The answer to an ingress or autoscaler that probes the network; null for other requests. */
  public static @Nullable LocalResponse toNetwork(Fields fields) {
    String kind = fields.text(Field.NETWORK_PROBE);
    return switch (kind) {
      case "" -> null;
      case "probe" -> echo(fields.text(Field.NETWORK_HASH));
      case "activator" -> LocalResponse.plain(200, "activator");
      default -> LocalResponse.error(400,
          "unexpected probe header value: \"" + escape(kind) + "\"");
    };
  }

  private static LocalResponse echo(String hash) {
    return hash.isEmpty()
        ? LocalResponse.error(400,
            "a probe request must contain a non-empty \"K-Network-Hash\" header")
        : new LocalResponse(200, Map.of("K-Network-Hash", hash), "");
  }

  /** Escapes as Go does: for HTML, then for a quoted string. */
  private static String escape(String value) {
    var text = new StringBuilder();
    for (char c : value.toCharArray()) {
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
