package dev.activator.upstream;

import dev.activator.revision.Destination;
import dev.activator.revision.PortProtocol;
import dev.activator.tls.DialTarget;
import java.time.Duration;
import java.util.Map;

/**
 * A probe to send to a pod. It is a {@code GET}; if the path is empty, it only connects, which over
 * TLS includes the handshake.
 *
 * @param headers without {@code Host}
 * @param connectTimeout until a connection is open; at most {@code timeout}
 * @param timeout until the end of the answer
 */
public record ProbeRequest(DialTarget target, PortProtocol protocol, String path, String host,
    Map<String, String> headers, Duration connectTimeout, Duration timeout) {
  /** A probe without TLS that may connect as long as it may wait for the answer. */
  public ProbeRequest(Destination destination, PortProtocol protocol, String path, String host,
      Map<String, String> headers, Duration timeout) {
    this(DialTarget.plain(destination), protocol, path, host, headers, timeout, timeout);
  }

  public Destination destination() {
    return target.destination();
  }
}
