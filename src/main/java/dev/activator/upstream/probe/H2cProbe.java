package dev.activator.upstream.probe;

import dev.activator.loop.Loop;
import dev.activator.upstream.UpstreamFailure;
import dev.activator.upstream.UpstreamPools;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2ChannelDuplexHandler;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.util.ReferenceCountUtil;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One question in HTTP/2 without TLS, and its answer, on a connection of its own.
 *
 * <p>
 * <b>Threads.</b> Only the loop's own may call.
 *
 * <p>
 * <b>Source.</b> RFC 9113, section 3.3: the client knows beforehand that the server speaks HTTP/2.
 */
// A connection that cannot be closed is closed.
@SuppressWarnings("FutureReturnValueIgnored")
final class H2cProbe {
  private final UpstreamPools pools;
  private final ProbeRequest request;
  private final PendingAnswer pending;
  private final Answers answers = new Answers();
  private @Nullable Channel channel;

  H2cProbe(UpstreamPools pools, ProbeRequest request, Consumer<ProbeAnswer> done) {
    this.pools = pools;
    this.request = request;
    this.pending = new PendingAnswer(request.timeout(), this::close, done);
  }

  /** The answer comes later, never inside this call. */
  void start(Loop loop) {
    pending.begin(loop);
    loop.execute(this::connect);
  }

  private void connect() {
    var connecting = pools.dialer().connect(request.destination(), request.timeout(),
        new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel fresh) {
            fresh.pipeline().addLast(Http2FrameCodecBuilder.forClient().build(), answers);
          }
        });
    channel = connecting.channel();
    connecting.addListener((ChannelFuture connected) -> connected(connected));
  }

  private void connected(ChannelFuture connected) {
    if (pending.isGiven()) {
      connected.channel().close();
    } else if (connected.isSuccess()) {
      ask(connected.channel());
    } else {
      pending.give(new ProbeAnswer.Failed(UpstreamFailure.of(connected.cause()).text()));
    }
  }

  private void ask(Channel open) {
    Http2Headers headers = new DefaultHttp2Headers().method("GET").scheme("http")
        .path(request.path()).authority(request.host());
    request.headers().forEach((name, value) -> headers.set(name.toLowerCase(Locale.ROOT), value));
    open.writeAndFlush(new DefaultHttp2HeadersFrame(headers, true).stream(answers.newStream()))
        .addListener(sent -> {
          if (!sent.isSuccess()) {
            pending.give(new ProbeAnswer.Unintelligible(UpstreamFailure.of(sent.cause()).text()));
          }
        });
  }

  private void close() {
    if (channel != null) {
      channel.close();
    }
  }

  /** Reads one answer. */
  private final class Answers extends Http2ChannelDuplexHandler {
    private final AnswerText body = new AnswerText();
    private int status;

    @Override
    public void channelRead(ChannelHandlerContext context, Object frame) {
      try {
        switch (frame) {
          case Http2HeadersFrame head -> head(head);
          case Http2DataFrame data -> data(data);
          case Http2ResetFrame _ ->
            pending.give(new ProbeAnswer.Unintelligible(UpstreamFailure.RESET.text()));
          default -> {
            // Settings and the like, which the codec has heeded.
          }
        }
      } finally {
        ReferenceCountUtil.release(frame);
      }
    }

    private void head(Http2HeadersFrame head) {
      var text = head.headers().status();
      if (text != null) {
        status = Integer.parseInt(text.toString());
      }
      if (head.isEndStream()) {
        pending.give(new ProbeAnswer.Answered(status, body.toString()));
      }
    }

    private void data(Http2DataFrame data) {
      body.keep(data.content());
      if (data.isEndStream() || body.isFull()) {
        pending.give(new ProbeAnswer.Answered(status, body.toString()));
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      pending.give(new ProbeAnswer.Unintelligible(UpstreamFailure.MALFORMED.text()));
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      pending.give(new ProbeAnswer.Unintelligible(UpstreamFailure.CLOSED.text()));
    }
  }
}
