package dev.activator.upstream;

import dev.activator.loop.Loop;
import java.util.function.Consumer;

/**
 * Sends probes over the connections that requests use.
 *
 * <p><b>Threads.</b> Called on {@code loop}, which calls {@code done} once, later.
 *
 * <p><b>Errors.</b> Every error is an answer.
 */
public interface ProbeClient {
  void probe(Loop loop, ProbeRequest request, Consumer<ProbeAnswer> done);
}
