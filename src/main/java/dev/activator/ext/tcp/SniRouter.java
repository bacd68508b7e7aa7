package dev.activator.ext.tcp;

import dev.activator.loop.LogLimit;
import dev.activator.loop.NettyTransport;
import dev.activator.loop.ResettableTimer;
import dev.activator.proxy.exchange.HeldRequestBytes.PartialHead;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.revision.LiveRevision;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.ssl.AbstractSniHandler;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the server name of a TLS client's first message, and hands the connection with all its bytes
 * to the revision of that name. Nothing is decrypted.
 *
 * <p><b>Threads.</b> Confined to its channel's loop.
 *
 * <p><b>Errors.</b> A connection without a known name, or that sends no such message in time, is
 * reset. What unfinished messages hold counts as heads of requests do, of which the oldest are refused
 * when memory is scarce.
 */
final class SniRouter extends AbstractSniHandler<LiveRevision> {
  private static final Logger log = LoggerFactory.getLogger(SniRouter.class);
  /** A larger hello is not that of a client; one with the keys of a post-quantum exchange has 2 KiB. */
  private static final int MAX_HELLO = 16 << 10;
  private static final String TOO_LARGE = "its first message is larger than " + MAX_HELLO
      + " bytes";

  private final Channel client;
  private final RequestDispatcher dispatcher;
  private final SniRoutes routes;
  private final LogLimit refusals;
  private final PartialHead hello;
  private final ResettableTimer timer;
  private int read;
  private boolean over;

  /** @param timeout for the whole message */
  SniRouter(Channel client, RequestDispatcher dispatcher, SniRoutes routes, LogLimit refusals,
      Duration timeout) {
    // Its own timeout would close without a word.
    super(MAX_HELLO, 0);
    this.client = client;
    this.dispatcher = dispatcher;
    this.routes = routes;
    this.refusals = refusals;
    this.hello = dispatcher.held().partialHead(() -> refuse("too much memory is held"));
    this.timer = new ResettableTimer(dispatcher.loop(),
        () -> refuse("its first message did not come in time"));
    timer.within(timeout);
    // What is no TLS is closed in the superclass.
    client.config().setOption(ChannelOption.SO_LINGER, 0);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
    read += ((ByteBuf) message).readableBytes();
    hello.grew(read);
    super.channelRead(context, message);
    // It can have many records, or one whose length is up to 64 KiB.
    if (read > MAX_HELLO) {
      refuse(TOO_LARGE);
    }
  }

  @Override
  protected Future<LiveRevision> lookup(ChannelHandlerContext context, @Nullable String name) {
    var found = name == null ? null : routes.find(name.toLowerCase(Locale.ROOT));
    return found == null
        ? context.executor().newFailedFuture(new IllegalArgumentException(name == null
            ? "it names no server"
            : "no workload has the server name " + name))
        : context.executor().newSucceededFuture(found);
  }

  @Override
  protected void onLookupComplete(ChannelHandlerContext context, @Nullable String name,
      Future<LiveRevision> found) {
    if (over) {
      return;
    }
    if (found.isSuccess()) {
      end();
      client.config().setOption(ChannelOption.SO_LINGER, -1);
      TcpConnection.accept(client, dispatcher, found.getNow(), refusals);
      // Passes on what was read.
      context.pipeline().remove(this);
    } else {
      refuse(found.cause().getMessage());
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    switch (cause) {
      // By the client.
      case IOException _ -> {
        end();
        var _ = context.close();
      }
      case TooLongFrameException _ -> refuse(TOO_LARGE);
      // Its message has all bytes.
      case DecoderException wrong when wrong.getCause() instanceof NotSslRecordException ->
        refuse("it is not TLS");
      default -> refuse(cause.toString());
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) throws Exception {
    end();
    super.channelInactive(context);
  }

  private void refuse(@Nullable String why) {
    if (!over) {
      end();
      refusals.log(dispatcher.loop().nanoTime(), others -> log.info("A TLS connection of {} was"
          + " reset: {}. {} others were since the last such line", client.remoteAddress(), why,
          others));
      NettyTransport.reset(client);
    }
  }

  private void end() {
    over = true;
    hello.ended();
    timer.cancel();
  }
}
