package dev.activator.proxy.policy;

import dev.activator.http.Field;
import dev.activator.http.Fields;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Requests that ask about this process, and their answers.
 *
 * <p><b>Source.</b> {@code HealthHandler} in Knative's {@code healthz/handler.go};
 * {@code NewHandler} in Knative networking's {@code probe_handler.go}; {@code ProbeHandler} of the
 * activator.
 */
public final class Probes {
  private Probes() {}

  /** Any caller may send these headers, as in Knative. */
  public static boolean isFromKubelet(Fields fields) {
    String agent = fields.first(Field.USER_AGENT);
    return (agent != null && agent.startsWith("kube-probe/"))
        || !fields.text(Field.KUBELET_PROBE).isEmpty();
  }

  /** @param problem null if ready */
  public static LocalResponse toKubelet(@Nullable String problem) {
    return problem == null ? LocalResponse.empty(200) : LocalResponse.error(500, problem);
  }

  /** From ingresses and autoscalers; null for other requests. */
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

  /** As Go: HTML first, then a quoted string. */
  private static String escape(String value) {
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        .replace("\"", "&#34;").replace("'", "&#39;").replace("\\", "\\\\").replace("\t", "\\t");
  }
}
