package dev.activator.upstream;

import dev.activator.loop.Loop;
import java.util.function.Consumer;

/**
 * Asks over the pool that requests use: the connection goes back to it after a complete answer, and
 * the first request finds it open.
 */
public final class HttpProbeClient implements ProbeClient {
  private final Upstreams upstreams;

  public HttpProbeClient(Upstreams upstreams) {
    this.upstreams = upstreams;
  }

  @Override
  public void ask(Loop loop, ProbeRequest request, Consumer<ProbeAnswer> done) {
    var probe = new Probe(upstreams.of(loop), request, done);
    // Later, as an answer must never come inside this call.
    loop.execute(probe::start);
    probe.endIn(loop);
  }
}
