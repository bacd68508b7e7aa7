#!/usr/bin/env bash
# Netty 4.2.18.Final (netty-transport, and netty-transport-native-epoll on Linux), a channel with ALLOW_HALF_CLOSURE, and a peer that ends
# its half of the connection and resets the connection later, as a process does that is killed while it waits for the answer.
#
# The guess: the reset is reported by exceptionCaught, as it is if the peer has not ended its half before.
#
# What Netty does: it reports nothing, and the channel stays open and active until something is written. The kernel has closed the socket by
# then, so keep-alive does not help either. Seen, three seconds after the reset, and after a write that follows:
#   NIO, half ended: nothing; inactive after a write
#   NIO, not ended: an exception
#   epoll, half ended: nothing; inactive after a write
#   epoll, not ended: an exception
#
# Needs Linux on amd64, Maven and a JDK 17 or later. Ends with 0 while this is so, and with 1 if it has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.netty</groupId><artifactId>netty-transport-native-epoll</artifactId><version>4.2.18.Final</version>
      <classifier>linux-x86_64</classifier></dependency>
  </dependencies>
</project>
POM
mvn -B -ntp -q org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=classpath
cat > Finding.java <<'JAVA'
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

public class Finding {
  public static void main(String[] args) throws Exception {
    for (boolean epoll : new boolean[] {false, true}) {
      for (boolean half : new boolean[] {true, false}) {
        System.out.println((epoll ? "epoll" : "NIO") + (half ? ", half ended: " : ", not ended: ")
            + (epoll ? after(half, EpollIoHandler.newFactory(), EpollServerSocketChannel.class)
                : after(half, NioIoHandler.newFactory(), NioServerSocketChannel.class)));
      }
    }
  }

  static String after(boolean half, IoHandlerFactory handlers, Class<? extends ServerChannel> type) throws Exception {
    var group = new MultiThreadIoEventLoopGroup(1, handlers);
    var accepted = new CompletableFuture<Channel>();
    var reported = new AtomicReference<>("nothing");
    var server = new ServerBootstrap().group(group).channel(type).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
        .childHandler(new ChannelInitializer<Channel>() {
          @Override
          protected void initChannel(Channel channel) {
            channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
              @Override
              public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                reported.set("an exception");
              }

              @Override
              public void channelInactive(ChannelHandlerContext context) {
                reported.set("inactive");
              }
            });
            accepted.complete(channel);
          }
        }).bind("127.0.0.1", 0).sync().channel();
    var client = new Socket("127.0.0.1", ((InetSocketAddress) server.localAddress()).getPort());
    var channel = accepted.get();
    Thread.sleep(500);
    if (half) {
      client.shutdownOutput();
      Thread.sleep(500);
    }
    client.setSoLinger(true, 0);
    client.close();
    Thread.sleep(3000);
    var text = reported.get();
    if (text.equals("nothing")) {
      channel.writeAndFlush(Unpooled.copiedBuffer("x", StandardCharsets.US_ASCII));
      Thread.sleep(500);
      text += "; " + reported.get() + " after a write";
    }
    group.shutdownGracefully();
    return text;
  }
}
JAVA
java -cp "$(cat classpath)" Finding.java | tee seen
diff seen - <<'EXPECTED'
NIO, half ended: nothing; inactive after a write
NIO, not ended: an exception
epoll, half ended: nothing; inactive after a write
epoll, not ended: an exception
EXPECTED
