package dev.activator.upstream.probe;

import dev.activator.loop.Loop;
import dev.activator.upstream.Dialer;
import dev.activator.upstream.UpstreamFailure;
import dev.activator.upstream.Upstreams;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
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
    if (request.path().isEmpty()) {
      connect(pools.dialer(), loop, request, done);
      return;
    }
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

  /** Not kept: a program that serves one connection at a time would wait for its first request. */
  @SuppressWarnings("FutureReturnValueIgnored") // A connection that cannot be closed is closed.
  private static void connect(Dialer dialer, Loop loop, ProbeRequest request,
      Consumer<ProbeAnswer> done) {
    var pending = new PendingAnswer(request.timeout(), () -> {
    }, done);
    pending.begin(loop);
    loop.execute(() -> dialer
        .connect(request.destination(), request.timeout(), new ChannelInboundHandlerAdapter())
        .addListener((ChannelFuture connected) -> {
          connected.channel().close();
          pending.give(connected.isSuccess()
              ? new ProbeAnswer.Connected()
              : new ProbeAnswer.Failed(UpstreamFailure.of(connected.cause()).text()));
        }));
  }
}
