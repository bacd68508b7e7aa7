package dev.activator.proxy.exchange;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import java.net.InetSocketAddress;

/**
 * Who is at the other end of a connection.
 *
 * @param address its IP address; empty where it has none
 * @param port its port; 0 where it has none
 * @param secure whether it speaks TLS
 */
public record Caller(String address, int port, boolean secure) {

  public static Caller of(Channel connection) {
    boolean secure = connection.pipeline().get(SslHandler.class) != null;
    return connection.remoteAddress() instanceof InetSocketAddress peer
        ? new Caller(peer.getAddress().getHostAddress(), peer.getPort(), secure)
        : new Caller("", 0, secure);
  }
}
