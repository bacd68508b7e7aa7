package dev.activator.ext.tcp;

import dev.activator.loop.LogLimit;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.revision.LiveRevision;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.ssl.AbstractSniHandler;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads the server name of a TLS client's first message, and hands the connection with all its bytes
 * to the revision of that name. Nothing is decrypted.
 *
 * <p><b>Threads.</b> Confined to its channel's loop.
 *
 * <p><b>Errors.</b> A connection without a known name is reset.
 */
final class SniRouter extends AbstractSniHandler<LiveRevision> {
  /** A larger hello is not that of a client; one with the keys of a post-quantum exchange has 2 KiB. */
  private static final int MAX_HELLO = 16 << 10;
  private static final String TOO_LARGE = "its first message is larger than " + MAX_HELLO
      + " bytes";

  private final Channel client;
  private final ConnectionAddresses addresses;
  private final RequestDispatcher dispatcher;
  private final SniRoutes routes;
  private final LogLimit refusals;
  private final FirstMessage hello;

  /** @param timeout for the whole message */
  SniRouter(Channel client, ConnectionAddresses addresses, RequestDispatcher dispatcher,
      SniRoutes routes, LogLimit refusals, Duration timeout) {
    // Its own timeout would close without a word.
    super(MAX_HELLO, 0);
    this.client = client;
    this.addresses = addresses;
    this.dispatcher = dispatcher;
    this.routes = routes;
    this.refusals = refusals;
    this.hello = new FirstMessage(client, dispatcher, refusals, "its first message", timeout);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
    hello.read(((ByteBuf) message).readableBytes());
    super.channelRead(context, message);
    // It can have many records, or one whose length is up to 64 KiB.
    if (hello.bytes() > MAX_HELLO) {
      hello.refuse(TOO_LARGE);
    }
  }

  @Override
  protected Future<LiveRevision> lookup(ChannelHandlerContext context, @Nullable String name) {
    var found = name == null ? null : routes.find(name.toLowerCase(Locale.ROOT));
    return found == null
        ? context.executor().newFailedFuture(new IllegalArgumentException(name == null
            ? "it is not TLS, or names no server"
            : "no workload has the server name " + name))
        : context.executor().newSucceededFuture(found);
  }

  @Override
  protected void onLookupComplete(ChannelHandlerContext context, @Nullable String name,
      Future<LiveRevision> found) {
    if (hello.isOver()) {
      return;
    }
    if (found.isSuccess()) {
      hello.complete();
      TcpConnection.accept(client, addresses, dispatcher, found.getNow(), refusals);
      // Passes on what was read.
      context.pipeline().remove(this);
    } else {
      hello.refuse(found.cause().getMessage());
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    switch (cause) {
      // By the client.
      case IOException _ -> {
        hello.end();
        var _ = context.close();
      }
      case TooLongFrameException _ -> hello.refuse(TOO_LARGE);
      // Its message has all bytes.
      case DecoderException wrong when wrong.getCause() instanceof NotSslRecordException ->
        hello.refuse("it is not TLS");
      default -> hello.refuse(cause.toString());
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) throws Exception {
    hello.end();
    super.channelInactive(context);
  }
}
