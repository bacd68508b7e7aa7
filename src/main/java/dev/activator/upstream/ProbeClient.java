package dev.activator.upstream;

import dev.activator.loop.Loop;
import java.util.function.Consumer;

/**
 * Asks destinations whether they answer, over the connections that requests use.
 *
 * <p>
 * <b>Threads.</b> Called on {@code loop}; {@code done} is called on it too, once, later.
 *
 * <p>
 * <b>Errors.</b> None are thrown: whatever goes wrong is an answer.
 */
public interface ProbeClient {
  void ask(Loop loop, ProbeRequest request, Consumer<ProbeAnswer> done);
}
