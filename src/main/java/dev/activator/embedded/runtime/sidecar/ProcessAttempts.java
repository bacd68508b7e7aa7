package dev.activator.embedded.runtime.sidecar;

import dev.activator.embedded.Sockets;
import dev.activator.embedded.runtime.policy.UserProbe;
import dev.activator.loop.Connecting;
import dev.activator.loop.NettyLoop;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * Tries whether the process takes requests: by a connection, or by a GET where the revision names a
 * path.
 *
 * <p>
 * <b>Source.</b> {@code pkg/queue/health/probe.go} in Knative Serving.
 */
@SuppressWarnings("FutureReturnValueIgnored") // What fails ends the channel, and that is noticed.
final class ProcessAttempts implements UserCheck.Attempt {
  private final Sockets sockets;
  private final NettyLoop loop;
  private final InetSocketAddress address;
  private final UserProbe probe;

  ProcessAttempts(Sockets sockets, NettyLoop loop, InetSocketAddress address, UserProbe probe) {
    this.sockets = sockets;
    this.loop = loop;
    this.address = address;
    this.probe = probe;
  }

  @Override
  public void start(Duration timeout, Consumer<Boolean> answer) {
    var once = new Once(answer);
    var client = sockets.client(loop.eventLoop())
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, Math.toIntExact(timeout.toMillis()))
        .handler(new ChannelInitializer<Channel>() {
          @Override
          protected void initChannel(Channel channel) {
            channel.pipeline().addLast(new HttpClientCodec(), new StatusReader(once));
          }
        });
    Connecting.to(address, client).addListener((ChannelFuture connected) -> {
      if (!connected.isSuccess()) {
        once.accept(false);
      } else if (probe.path().isEmpty()) {
        once.accept(true);
        connected.channel().close();
      } else {
        ask(connected.channel(), timeout);
      }
    });
  }

  private void ask(Channel channel, Duration timeout) {
    var request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, probe.path());
    request.headers().set("Host", address.getHostString() + ":" + address.getPort())
        .set("User-Agent", "kube-probe/1.34").set("Connection", "close");
    channel.writeAndFlush(request);
    loop.schedule(timeout, channel::close);
  }

  /** Answers the first time only. */
  private static final class Once implements Consumer<Boolean> {
    private final Consumer<Boolean> answer;
    private boolean given;

    Once(Consumer<Boolean> answer) {
      this.answer = answer;
    }

    @Override
    public void accept(Boolean passed) {
      if (!given) {
        given = true;
        answer.accept(passed);
      }
    }
  }

  private static final class StatusReader extends SimpleChannelInboundHandler<HttpObject> {
    private final Once answer;

    StatusReader(Once answer) {
      this.answer = answer;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
      if (part instanceof HttpResponse head) {
        int status = head.status().code();
        answer.accept(part.decoderResult().isSuccess() && status >= 200 && status < 400);
        context.close();
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      answer.accept(false);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }
}
