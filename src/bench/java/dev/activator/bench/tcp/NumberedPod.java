package dev.activator.bench.tcp;

import dev.activator.bench.tcp.NumberedBytes.Header;
import dev.activator.bench.tcp.NumberedBytes.Header.PodEnd;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A pod on its own address, which serves connections with {@link NumberedBytes}.
 *
 * <p><b>Threads.</b> All pods run on one event loop: a connection that has ended before another one begins is seen in
 * this order.
 */
final class NumberedPod {
  private static final int CHUNK = 16 << 10;
  /** States of a socket: {@code net/tcp_states.h} of Linux. */
  private static final int ESTABLISHED = 1;
  private static final int FIN_WAIT1 = 4;
  private static final int FIN_WAIT2 = 5;
  private static final int CLOSE_WAIT = 8;

  private final PodRecords records;
  private final EventLoop loop;
  private final int number;
  private final String ip;
  private final int port;
  private final Set<Serving> open = new HashSet<>();
  private @Nullable Channel listening;
  private volatile boolean killed;
  /** How many connections it has, with those of probes. */
  private volatile int connections;
  /** How many of them a client has sent something on. */
  private volatile int clients;
  private volatile long listensSince;
  /** When it accepted the first connection of a client; 0 if it has none. */
  private volatile long firstAt;

  NumberedPod(PodRecords records, EventLoop loop, int number, int port) {
    this.records = records;
    this.loop = loop;
    this.number = number;
    this.ip = "127.11." + number / 250 + "." + (1 + number % 250);
    this.port = port;
  }

  String ip() {
    return ip;
  }

  boolean wasKilled() {
    return killed;
  }

  int connections() {
    return connections;
  }

  int clients() {
    return clients;
  }

  /** How long it listened until it accepted the first connection of a client; -1 if it got none. */
  long nanosUntilFirst() {
    return firstAt == 0 ? -1 : firstAt - listensSince;
  }

  void listen() throws InterruptedException {
    listening = new ServerBootstrap().group(loop).channel(EpollServerSocketChannel.class)
        .option(ChannelOption.SO_REUSEADDR, true).option(ChannelOption.SO_BACKLOG, 1000)
        .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
        .childHandler(new ChannelInitializer<EpollSocketChannel>() {
          @Override
          protected void initChannel(EpollSocketChannel channel) {
            channel.pipeline().addLast(new Serving(channel));
          }
        }).bind(ip, port).sync().channel();
    listensSince = System.nanoTime();
  }

  /**
   * Ends as a process does that gets SIGKILL.
   *
   * @param ended is run once it has no connection
   */
  void kill(Runnable ended) {
    killed = true;
    loop.execute(() -> {
      stopListening();
      // Of a closed one, another may have the file descriptor.
      Set.copyOf(open).stream().filter(one -> one.channel.isOpen()).forEach(one -> {
        one.channel.config().setOption(ChannelOption.SO_LINGER, 0);
        one.channel.close();
      });
      ended.run();
    });
  }

  /** New connections are refused; those that are open stay. */
  void end() {
    loop.execute(this::stopListening);
  }

  private void stopListening() {
    if (listening != null) {
      listening.close();
    }
  }

  private int withClient() {
    return (int) open.stream().filter(one -> one.header != null).count();
  }

  private final class Serving extends ChannelInboundHandlerAdapter {
    private final EpollSocketChannel channel;
    private @Nullable Header header;
    private @Nullable ByteBuf partial;
    private int received;
    private int sent;
    private boolean clientEnded;
    private boolean outputEnds;
    private boolean isOver;
    private final long acceptedAt = System.nanoTime();

    Serving(EpollSocketChannel channel) {
      this.channel = channel;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      open.add(this);
      connections = open.size();
      context.writeAndFlush(context.alloc().buffer(Long.BYTES).writeLong(number));
    }

    /**
     * Whether it runs here. It does not if the pod has closed it, or if the kernel has got an end that the pod has
     * not noticed yet. A client that has only ended its half is one that the pod still answers.
     */
    private boolean isOpen() {
      return channel.isOpen() && switch (channel.tcpInfo().state()) {
        case ESTABLISHED, FIN_WAIT1, FIN_WAIT2 -> true;
        case CLOSE_WAIT -> clientEnded;
        default -> false;
      };
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      var bytes = (ByteBuf) message;
      if (header == null) {
        partial = partial == null ? context.alloc().buffer() : partial;
        partial.writeBytes(bytes);
        if (partial.readableBytes() >= NumberedBytes.HEADER) {
          header = new Header(partial.readLong(), partial.readInt(), partial.readInt());
          records.begun(header.id(), number);
          clients = withClient();
          // A probe's connection may be kept for a client: it counts once that has sent something.
          records.atOnce(
              (int) open.stream().filter(one -> one.header != null && one.isOpen()).count());
          firstAt = firstAt == 0 ? acceptedAt : firstAt;
          check(header, partial);
          partial.release();
          partial = null;
        }
      } else {
        check(header, bytes);
      }
      bytes.release();
      send();
    }

    private void check(Header of, ByteBuf bytes) {
      while (bytes.isReadable()) {
        if (received >= of.up() || bytes.readByte() != of.up(received)) {
          records.wrong("pod " + number + " got another byte than number " + received + " of "
              + of);
          channel.close();
          return;
        }
        received++;
      }
      if (received == of.up()) {
        records.complete(of.id());
      }
    }

    private void send() {
      var of = header;
      if (of == null || isOver) {
        return;
      }
      while (sent < of.down() && channel.isWritable()) {
        int next = Math.min(CHUNK, of.down() - sent);
        var chunk = channel.alloc().buffer(next);
        for (int i = 0; i < next; i++) {
          chunk.writeByte(of.down(sent++));
        }
        channel.writeAndFlush(chunk);
      }
      if (sent < of.down()) {
        return;
      }
      boolean hasAll = received == of.up();
      if (clientEnded || hasAll && of.podEnd() == PodEnd.FIRST) {
        isOver = true;
        // Netty drops what is not written yet.
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
      } else if (of.podEnd() == PodEnd.HALF && !outputEnds) {
        outputEnds = true;
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER)
            .addListener(_ -> channel.shutdownOutput());
      }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      send();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      if (event instanceof ChannelInputShutdownEvent) {
        clientEnded = true;
        if (header == null || received < header.up()) {
          // It has left, or is a probe.
          channel.close();
        } else {
          send();
        }
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      if (!(cause instanceof IOException)) {
        records.wrong("pod " + number + ": " + cause);
      }
      channel.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      open.remove(this);
      connections = open.size();
      clients = withClient();
      if (partial != null) {
        partial.release();
        partial = null;
      }
    }
  }
}
