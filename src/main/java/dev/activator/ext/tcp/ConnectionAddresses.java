package dev.activator.ext.tcp;

import dev.activator.config.RevisionAnnotations;
import dev.activator.revision.LiveRevision;
import io.netty.channel.Channel;
import io.netty.handler.codec.haproxy.HAProxyCommand;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyProtocolVersion;
import io.netty.handler.codec.haproxy.HAProxyProxiedProtocol;
import io.netty.handler.codec.haproxy.HAProxyProxiedProtocol.AddressFamily;
import io.netty.util.NetUtil;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Where a connection comes from, and where it was accepted first: here, or by a load balancer. */
record ConnectionAddresses(InetSocketAddress client, InetSocketAddress server) {
  /** Those of the socket; null if it is closed already. */
  static @Nullable ConnectionAddresses of(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress client
        && channel.localAddress() instanceof InetSocketAddress server
            ? new ConnectionAddresses(client, server)
            : null;
  }

  /**
   * Those in a PROXY header; these if it has none.
   *
   * @throws IllegalArgumentException if one is not an address
   */
  ConnectionAddresses in(HAProxyMessage header) {
    var family = header.proxiedProtocol().addressFamily();
    return family == AddressFamily.AF_IPv4 || family == AddressFamily.AF_IPv6
        ? new ConnectionAddresses(address(header.sourceAddress(), header.sourcePort()),
            address(header.destinationAddress(), header.destinationPort()))
        : this;
  }

  private static InetSocketAddress address(String address, int port) {
    return new InetSocketAddress(InetAddress.ofLiteral(address), port);
  }

  /** The version of the PROXY header that a revision's pods get; null if they get none. */
  static @Nullable HAProxyProtocolVersion headerVersion(LiveRevision revision) {
    return switch (revision.spec().annotations().get(RevisionAnnotations.TCP_PROXY_PROTOCOL)) {
      case "v1" -> HAProxyProtocolVersion.V1;
      case "v2" -> HAProxyProtocolVersion.V2;
      case null, default -> null;
    };
  }

  /** The PROXY header for a pod. */
  HAProxyMessage header(HAProxyProtocolVersion version) {
    boolean ipv4 = client.getAddress() instanceof Inet4Address
        && server.getAddress() instanceof Inet4Address;
    return new HAProxyMessage(version, HAProxyCommand.PROXY,
        ipv4 ? HAProxyProxiedProtocol.TCP4 : HAProxyProxiedProtocol.TCP6, text(client, ipv4),
        text(server, ipv4), client.getPort(), server.getPort());
  }

  private static String text(InetSocketAddress address, boolean ipv4) {
    var text = NetUtil.toAddressString(address.getAddress());
    return !ipv4 && address.getAddress() instanceof Inet4Address ? "::ffff:" + text : text;
  }
}
