package dev.activator.config;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How traces leave the process.
 *
 * @param protocol by which
 * @param endpoint where to, for those that push; else empty
 * @param samplingRate how many of the requests are traced; 0 to 1
 */
public record TracingConfig(Protocol protocol, String endpoint, double samplingRate) {
  /** What an empty map means. */
  public static final TracingConfig NONE = new TracingConfig(Protocol.NONE, "", 0);

  private static final Map<String, Protocol> PROTOCOLS = new TreeMap<>(Map.of("none",
      Protocol.NONE, "grpc", Protocol.GRPC, "http/protobuf", Protocol.HTTP_PROTOBUF, "stdout",
      Protocol.STDOUT));

  /** How traces are handed on. */
  public enum Protocol {
    /** Not at all. */
    NONE,
    /** OTLP, over gRPC. */
    GRPC,
    /** OTLP, over HTTP. */
    HTTP_PROTOBUF,
    /** To standard output, all of them. */
    STDOUT;

    /** Whether they are sent over the network. */
    public boolean pushes() {
      return this == GRPC || this == HTTP_PROTOBUF;
    }
  }

  static TracingConfig read(Entries entries) {
    var protocol = entries.oneOf("tracing-protocol", Protocol.NONE, PROTOCOLS);
    var endpoint = entries.text("tracing-endpoint", "");
    var word = entries.text("tracing-protocol", "none");
    if (protocol.pushes() && endpoint.isEmpty()) {
      entries.problem("tracing-endpoint is missing, which tracing-protocol " + word + " needs");
    }
    if (!protocol.pushes() && !endpoint.isEmpty() && PROTOCOLS.containsKey(word)) {
      entries.problem("tracing-endpoint is '" + endpoint + "', but tracing-protocol is " + word);
    }
    if (protocol.pushes()) {
      entries.check("tracing-endpoint", EndpointText::problem);
    }
    return new TracingConfig(protocol, endpoint, entries.fraction("tracing-sampling-rate"));
  }

  SortedMap<String, String> entries() {
    var said = new TreeMap<String, String>();
    PROTOCOLS.forEach((word, meant) -> {
      if (meant == protocol) {
        said.put("tracing-protocol", word);
      }
    });
    if (protocol.pushes()) {
      said.put("tracing-endpoint", endpoint);
    }
    if (protocol != Protocol.NONE) {
      said.put("tracing-sampling-rate", String.valueOf(samplingRate));
    }
    return said;
  }
}
