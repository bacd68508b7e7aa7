package dev.activator.ext.tcp;

import dev.activator.config.CidrRanges;
import dev.activator.ext.tcp.policy.ProxySignature;
import dev.activator.ext.tcp.policy.ProxySignature.Match;
import dev.activator.loop.LogLimit;
import dev.activator.loop.NettyTransport;
import dev.activator.loop.ResettableTimer;
import dev.activator.proxy.exchange.RequestDispatcher;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.haproxy.HAProxyCommand;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * PROXY headers at the beginning of connections, by which load balancers say where these come from.
 * An address that is trusted must send one; those of others are not believed.
 *
 * <p><b>Source.</b> {@code expect-proxy layer4} in HAProxy. The header itself is read by Netty.
 */
final class ProxyHeaders {
  /** More than load balancers send; every receiver must take 536 bytes. */
  private static final int MAX_TLVS = 4 << 10;
  private static final String INVALID = "its PROXY header is invalid";

  private final CidrRanges trusted;
  private final Duration timeout;

  /** @param timeout for the whole header */
  ProxyHeaders(CidrRanges trusted, Duration timeout) {
    this.trusted = trusted;
    this.timeout = timeout;
  }

  /**
   * Accepts a connection once it is known where it comes from.
   *
   * @param toPod whether its pod gets a header, too
   * @param then adds the handlers of its bytes after the header
   */
  void accept(Channel client, RequestDispatcher dispatcher, LogLimit refusals, boolean toPod,
      Consumer<ConnectionAddresses> then) {
    var addresses = ConnectionAddresses.of(client);
    if (addresses == null) {
      NettyTransport.reset(client);
    } else if (trusted.contains(addresses.client().getAddress())) {
      var message = new FirstMessage(client, dispatcher, refusals, "its PROXY header", timeout);
      client.pipeline().addLast(new Decoder(message), new Receiver(message, addresses, then,
          new ResettableTimer(dispatcher.loop(), client::close), timeout));
    } else {
      if (toPod || !trusted.all().isEmpty()) {
        client.pipeline().addLast(new Guard(dispatcher, refusals));
      }
      then.accept(addresses);
    }
  }

  private static Match add(ProxySignature signature, ByteBuf bytes) {
    for (int i = bytes.readerIndex(); i < bytes.writerIndex()
        && signature.match() == Match.PART; i++) {
      signature.add(bytes.getByte(i));
    }
    return signature.match();
  }

  /** Reads the header of a trusted address. */
  private static final class Decoder extends HAProxyMessageDecoder {
    private final FirstMessage message;
    private final ProxySignature signature = new ProxySignature();

    Decoder(FirstMessage message) {
      super(MAX_TLVS);
      this.message = message;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object read) throws Exception {
      var bytes = (ByteBuf) read;
      message.read(bytes.readableBytes());
      if (add(signature, bytes) == Match.NONE) {
        message.refuse("it begins without a PROXY header, which its address must send"
            + " (activator.standalone.proxy-protocol-from)");
      }
      if (message.isOver()) {
        bytes.release();
      } else {
        super.channelRead(context, bytes);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      switch (cause) {
        // By the load balancer.
        case IOException _ -> {
          message.end();
          var _ = context.close();
        }
        case DecoderException _ -> message.refuse(INVALID);
        default -> message.refuse(cause.toString());
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
      message.end();
      super.channelInactive(context);
    }
  }

  /** Takes the header from the decoder. */
  private static final class Receiver extends ChannelInboundHandlerAdapter {
    private final FirstMessage message;
    private final ConnectionAddresses socket;
    private final Consumer<ConnectionAddresses> then;
    private final ResettableTimer close;
    private final Duration timeout;

    /** @param timeout of a connection that leads to no pod */
    Receiver(FirstMessage message, ConnectionAddresses socket,
        Consumer<ConnectionAddresses> then, ResettableTimer close, Duration timeout) {
      this.message = message;
      this.socket = socket;
      this.then = then;
      this.close = close;
      this.timeout = timeout;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object read) {
      try {
        if (read instanceof HAProxyMessage header) {
          received(context, header);
        }
      } finally {
        ReferenceCountUtil.release(read);
      }
    }

    private void received(ChannelHandlerContext context, HAProxyMessage header) {
      ConnectionAddresses addresses;
      try {
        addresses = socket.in(header);
      } catch (IllegalArgumentException e) {
        message.refuse(INVALID);
        return;
      }
      message.complete();
      if (header.command() == HAProxyCommand.LOCAL) {
        // Of the load balancer itself, to check the activator. What it sends now is dropped.
        close.within(timeout);
      } else {
        then.accept(addresses);
        context.pipeline().remove(this);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      if (!(cause instanceof IOException)) {
        context.fireExceptionCaught(cause);
      }
      var _ = context.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      close.cancel();
    }
  }

  /** Resets a connection that begins with a header, although its address is not trusted. */
  private static final class Guard extends ChannelInboundHandlerAdapter {
    private final RequestDispatcher dispatcher;
    private final LogLimit refusals;
    private final ProxySignature signature = new ProxySignature();

    Guard(RequestDispatcher dispatcher, LogLimit refusals) {
      this.dispatcher = dispatcher;
      this.refusals = refusals;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object read) {
      switch (add(signature, (ByteBuf) read)) {
        // Bytes are not held back: a server may wait for less than a signature.
        case PART -> context.fireChannelRead(read);
        case NONE -> {
          context.fireChannelRead(read);
          context.pipeline().remove(this);
        }
        case WHOLE -> {
          ReferenceCountUtil.release(read);
          FirstMessage.reset(context.channel(), dispatcher, refusals, "it begins with a PROXY"
              + " header, and activator.standalone.proxy-protocol-from does not name its address");
        }
      }
    }
  }
}
