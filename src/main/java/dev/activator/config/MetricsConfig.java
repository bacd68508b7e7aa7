package dev.activator.config;

import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How metrics leave the process.
 *
 * @param protocol by which
 * @param endpoint where to: a URL for those that push; {@code host:port} to listen on, or empty, for
 *     Prometheus
 * @param interval between two pushes; zero stands for a minute
 */
public record MetricsConfig(Protocol protocol, String endpoint, Duration interval) {
  /** What an empty map means. */
  public static final MetricsConfig NONE = new MetricsConfig(Protocol.NONE, "", Duration.ZERO);

  private static final Map<String, Protocol> PROTOCOLS = new TreeMap<>(
      Map.of("none", Protocol.NONE, "prometheus", Protocol.PROMETHEUS, "grpc", Protocol.GRPC,
          "http/protobuf", Protocol.HTTP_PROTOBUF));
  private static final Duration USUAL_INTERVAL = Duration.ofSeconds(60);

  /** How metrics are handed on. */
  public enum Protocol {
    /** Not at all. */
    NONE,
    /** They are fetched. */
    PROMETHEUS,
    /** OTLP, over gRPC. */
    GRPC,
    /** OTLP, over HTTP. */
    HTTP_PROTOBUF;

    /** Whether they are sent somewhere, rather than fetched. */
    public boolean pushes() {
      return this == GRPC || this == HTTP_PROTOBUF;
    }
  }

  /** From one push to the next; positive. */
  public Duration pushInterval() {
    return interval.isZero() ? USUAL_INTERVAL : interval;
  }

  static MetricsConfig read(Entries entries, String prefix) {
    var key = prefix + "metrics-protocol";
    var metrics = new MetricsConfig(entries.oneOf(key, Protocol.NONE, PROTOCOLS),
        entries.text(prefix + "metrics-endpoint", ""),
        entries.duration(prefix + "metrics-export-interval", Duration.ZERO));
    if (metrics.protocol.pushes() && metrics.endpoint.isEmpty()) {
      entries.problem(prefix + "metrics-endpoint is missing, which " + key + " "
          + entries.text(key, "") + " needs");
    }
    if (metrics.protocol.pushes() && prefix.isEmpty()) {
      entries.check("metrics-endpoint", EndpointText::problem);
    }
    if (metrics.protocol == Protocol.NONE && !metrics.endpoint.isEmpty()
        && entries.text(key, "none").equals("none")) {
      entries.problem(prefix + "metrics-endpoint is '" + metrics.endpoint + "', but " + key
          + " is none");
    }
    return metrics;
  }

  SortedMap<String, String> entries() {
    var said = new TreeMap<String, String>();
    PROTOCOLS.forEach((word, meant) -> {
      if (meant == protocol) {
        said.put("metrics-protocol", word);
      }
    });
    if (!endpoint.isEmpty()) {
      said.put("metrics-endpoint", endpoint);
    }
    if (protocol.pushes()) {
      said.put("metrics-export-interval", GoDuration.print(pushInterval()));
    }
    return said;
  }
}
