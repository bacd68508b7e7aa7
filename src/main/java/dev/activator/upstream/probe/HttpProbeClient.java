package dev.activator.upstream.probe;

import dev.activator.loop.Loop;
import dev.activator.upstream.Upstreams;
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
    var pools = upstreams.of(loop);
    switch (request.protocol()) {
      case HTTP1 -> {
        var probe = new Probe(pools, request, done);
        // Later, as an answer must never come inside this call.
        loop.execute(probe::start);
        probe.begin(loop);
      }
      case H2C -> new H2cProbe(pools, request, done).start(loop);
    }
  }
}
