package dev.activator.upstream;

import dev.activator.revision.Destination;
import dev.activator.revision.Protocol;
import java.time.Duration;
import java.util.Map;

/**
 * A probe: a {@code GET} without a body, or, if the path is empty, only whether the destination takes a
 * connection, which is then closed.
 *
 * @param destination where it is sent
 * @param protocol HTTP/1.1, or HTTP/2 without TLS and without asking first
 * @param path starts with a slash; empty where a connection is all that is asked for
 * @param host the {@code Host} header
 * @param headers the others, sent as they are
 * @param timeout from the call to the end of the answer, connecting included
 */
public record ProbeRequest(Destination destination, Protocol protocol, String path, String host,
    Map<String, String> headers, Duration timeout) {}
