package dev.activator.upstream;

import dev.activator.loop.Connecting;
import dev.activator.loop.NettyLoop;
import dev.activator.loop.Transport;
import dev.activator.revision.Destination;
import dev.activator.tls.Peer;
import dev.activator.tls.PodTls;
import dev.activator.upstream.policy.DialPlan;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;

/** Opens connections of one event loop. */
final class Dialer {
  private final NettyLoop loop;
  private final DialPlan plan;
  private final PodTls tls;
  private final Bootstrap bootstrap;

  Dialer(NettyLoop loop, DialPlan plan, PodTls tls) {
    this.loop = loop;
    this.plan = plan;
    this.tls = tls;
    this.bootstrap = new Bootstrap().group(loop.eventLoop())
        .channel(Transport.of(loop.eventLoop()).socket()).option(ChannelOption.TCP_NODELAY, true)
        .option(ChannelOption.SO_KEEPALIVE, true);
  }

  /** The caller hears of the outcome later, never inside this call. */
  Dial dial(Peer peer, Dialing.Caller caller) {
    var dial = new Dialing(this, peer, addressOf(peer.destination()), caller);
    loop.execute(dial::start);
    return dial;
  }

  NettyLoop loop() {
    return loop;
  }

  PodTls tls() {
    return tls;
  }

  DialPlan plan() {
    return plan;
  }

  /** One attempt; its channel begins with only this handler. */
  ChannelFuture attempt(InetSocketAddress address, Duration timeout, ChannelHandler handler) {
    return Connecting.to(address, bootstrap.clone().handler(handler)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) timeout.toMillis()));
  }

  /** Pods have addresses and not names; a name is looked up when it is connected to. */
  private static InetSocketAddress addressOf(Destination destination) {
    byte[] bytes = NetUtil.createByteArrayFromIpAddressString(destination.host());
    if (bytes == null) {
      return InetSocketAddress.createUnresolved(destination.host(), destination.port());
    }
    try {
      return new InetSocketAddress(InetAddress.getByAddress(bytes), destination.port());
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException("neither 4 nor 16 bytes: " + destination, impossible);
    }
  }
}
