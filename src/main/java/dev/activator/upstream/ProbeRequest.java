package dev.activator.upstream;

import dev.activator.revision.Destination;
import java.time.Duration;
import java.util.Map;

/**
 * A question to a destination, asked with HTTP/1.1 {@code GET}, without a body.
 *
 * @param destination whom to ask
 * @param path starts with a slash
 * @param host the {@code Host} header
 * @param headers the others, sent as they are
 * @param timeout from the call to the end of the answer, connecting included
 */
public record ProbeRequest(Destination destination, String path, String host,
    Map<String, String> headers, Duration timeout) {}
