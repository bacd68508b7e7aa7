package dev.activator.ext.tcp;

import dev.activator.loop.LogLimit;
import dev.activator.loop.NettyTransport;
import dev.activator.proxy.exchange.HeldRequestBytes.PartialHead;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.revision.LiveRevision;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.AbstractSniHandler;
import io.netty.util.concurrent.Future;
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

  private final Channel client;
  private final RequestDispatcher dispatcher;
  private final SniRoutes routes;
  private final LogLimit refusals;
  private final PartialHead hello;
  private int read;
  private boolean over;

  /** @param timeout for the whole message */
  SniRouter(Channel client, RequestDispatcher dispatcher, SniRoutes routes, LogLimit refusals,
      Duration timeout) {
    super(MAX_HELLO, timeout.toMillis());
    this.client = client;
    this.dispatcher = dispatcher;
    this.routes = routes;
    this.refusals = refusals;
    this.hello = dispatcher.held().partialHead(() -> refuse("too much memory is held"));
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
    read += ((ByteBuf) message).readableBytes();
    hello.grew(read);
    super.channelRead(context, message);
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
      TcpConnection.accept(client, dispatcher, found.getNow(), refusals);
      // Passes on what was read.
      context.pipeline().remove(this);
    } else {
      refuse(found.cause().getMessage());
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // A reset by the client is no refusal.
    refuse(cause.toString());
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
  }
}
