package dev.activator.upstream.probe;

import dev.activator.revision.Destination;
import dev.activator.revision.Protocol;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A {@code GET} without a body, or only a connection.
 *
 * @param destination where it goes
 * @param protocol HTTP/1.1, or HTTP/2 without TLS and with prior knowledge
 * @param path starts with a slash; null to connect, send nothing and close
 * @param host the {@code Host} header
 * @param headers the others, sent as they are
 * @param timeout from the call to the end of the answer, connecting included
 */
public record ProbeRequest(Destination destination, Protocol protocol, @Nullable String path,
    String host, Map<String, String> headers, Duration timeout) {}
