package dev.activator.upstream;

import dev.activator.loop.Loop;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * Sends probes over the connections that requests use.
 *
 * <p><b>Threads.</b> Called on {@code loop}, which calls {@code done} once, later.
 *
 * <p><b>Errors.</b> Every error is a {@link ProbeResult}.
 */
public interface ProbeClient {
  void probe(Loop loop, ProbeRequest request, Consumer<ProbeResult> done);

  /**
   * Waits until a server listens at an address that is likely to refuse connections. Calls back
   * later: true if the address still refuses them; false if it does not, or if that is unknown.
   *
   * @param next the probe that will follow; it may use the connection that was opened
   * @param pause between attempts; zero if the address is new: then the first attempt is not
   *     limited
   * @param limit the time after which no other attempt is made; zero for one attempt
   */
  default void awaitListener(Loop loop, ProbeRequest next, Duration pause, Duration limit,
      Consumer<Boolean> refused) {
    loop.execute(() -> refused.accept(false));
  }
}
