package dev.activator.ext.warmup;

import dev.activator.proxy.exchange.Seams;
import dev.activator.revision.PodTransport;
import dev.activator.lifecycle.Readiness;
import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyTransport;
import dev.activator.observability.Meters;
import dev.activator.observability.RequestMeters;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.exchange.Router;
import dev.activator.proxy.exchange.UnreadResponseBytes;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.proxy.policy.UnreadResponseBudget;
import dev.activator.proxy.ProxyServer;
import dev.activator.revision.Destination;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter;
import dev.activator.stats.RevisionStat;
import dev.activator.stats.StatSink;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import dev.activator.upstream.ConnectionPoolsByLoop;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends warm-up requests in both versions of HTTP before the first caller does, so that the code is
 * loaded and partly compiled. They go from a client through two proxies to a pod, all on the
 * loopback interface. They share only event loops with the activator, so they do not appear in
 * meters, logs or statistics for the autoscaler.
 *
 * <p><b>Errors.</b> Failures do not stop the start.
 */
@SuppressWarnings("FutureReturnValueIgnored") // Requests that fail are missing in the count.
public final class JvmWarmUp {
  private static final Logger log = LoggerFactory.getLogger(JvmWarmUp.class);
  static final String LOOPBACK = InetAddress.getLoopbackAddress().getHostAddress();
  static final RevisionId ID = new RevisionId("activator", "warm-up");
  private static final int CONNECTIONS = 4;
  /** The last bytes of an answer. A queue-proxy answers probes with this text. */
  private static final String END = "queue";
  private static final ByteBuf GET = request("GET", "");
  private static final ByteBuf POST = request("POST", "x".repeat(1_000));
  private static final ByteBuf ANSWER = bytes("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
      + "Content-Length: " + END.length() + "\r\n\r\n" + END);

  private final EventLoopGroup group;
  private final LoopGroup loops;
  private final RandomGenerator random;
  private final int requests;
  private final List<Runnable> ends = new ArrayList<>();

  public JvmWarmUp(EventLoopGroup group, LoopGroup loops, RandomGenerator random, int requests) {
    this.group = group;
    this.loops = loops;
    this.random = random;
    this.requests = requests;
  }

  private static ByteBuf request(String method, String body) {
    return bytes(method + " /?a=b HTTP/1.1\r\nHost: warm-up.example\r\n"
        + "User-Agent: warm-up\r\nAccept: */*\r\nX-Forwarded-For: 192.0.2.1\r\n"
        + "Content-Length: " + body.length() + "\r\n\r\n" + body);
  }

  private static ByteBuf bytes(String text) {
    return Unpooled.unreleasableBuffer(
        Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII).asReadOnly());
  }

  void end() {
    ends.forEach(Runnable::run);
  }

  /**
   * Blocks until all requests are answered, or until the timeout. Returns how many were answered.
   */
  public int run(Duration timeout) {
    var left = new CountDownLatch(requests);
    try {
      int pod = pod();
      int behind = proxy(PortProtocol.HTTP1, always(pod));
      int front = proxy(PortProtocol.H2C, always(behind));
      for (int i = 0; i < CONNECTIONS; i++) {
        send(front, left);
      }
      var _ = left.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (IOException | RuntimeException e) {
      log.info("The first requests will take longer, as none could be tried: {}", e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      end();
    }
    int answered = requests - (int) left.getCount();
    log.debug("{} of {} warm-up requests were answered", answered, requests);
    return answered;
  }

  int pod() throws IOException {
    return listen(connection -> connection.pipeline().addLast(new Pod()));
  }

  int listen(Consumer<Channel> handlers) throws IOException {
    var bound = new ServerBootstrap().group(group).channel(NettyTransport.of(group.next()).server())
        .childHandler(new ChannelInitializer<Channel>() {
          @Override
          protected void initChannel(Channel connection) {
            handlers.accept(connection);
          }
        }).bind(LOOPBACK, 0).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException(bound.cause());
    }
    ends.add(bound.channel()::close);
    return ((InetSocketAddress) bound.channel().localAddress()).getPort();
  }

  private static BiFunction<LiveRevision, QueuedCaller, ThrottleDecision> always(int port) {
    var permit = new Always(new Destination(LOOPBACK, port));
    return (_, _) -> permit;
  }

  ConnectionPoolsByLoop upstreams() {
    var upstreams = new ConnectionPoolsByLoop(loops, IdleLimits.DEFAULT, random,
        new PodTls(new LiveRevisions(loops::loopFor)));
    ends.add(upstreams::close);
    return upstreams;
  }

  private int proxy(PortProtocol protocol,
      BiFunction<LiveRevision, QueuedCaller, ThrottleDecision> throttle)
      throws IOException {
    var revision = new Revision(ID, "", protocol, 0, RequestTimeouts.DEFAULT, true, null,
        Map.of(), Map.of(), null);
    var revisions = new LiveRevisions(loops::loopFor);
    revisions.update(revision);
    return proxy(revisions, upstreams(), throttle);
  }

  int proxy(LiveRevisions revisions, ConnectionPoolsByLoop upstreams,
      BiFunction<LiveRevision, QueuedCaller, ThrottleDecision> throttle) throws IOException {
    var router = new Router(new RevisionResolver.Knative("cluster.local", (_, _, _) -> ID),
        _ -> null, revisions, Readiness.Ready::new);
    var reporter = new ConcurrencyReporter(revisions, loops.loopFor(ID), Duration.ofSeconds(1),
        NO_AUTOSCALER);
    var meters = new RequestMeters(new Meters(), revisions);
    var held = new HeldRequestBytes(new HeldMemoryLimit(1 << 20));
    var unread = new UnreadResponseBytes(new UnreadResponseBudget(1 << 20));
    var server = new ProxyServer(group, group, loops, Duration.ofSeconds(60),
        loop -> new RequestDispatcher(loop, router, throttle, upstreams.of(loop),
            reporter.onLoop(loop), new RequestDispatcher.Memory(held.share(), unread.share(loop)),
            Seams.of(revisions, meters)));
    ends.add(server::close);
    return listen(server::accept);
  }

  private record Always(Destination destination) implements ThrottleDecision.Permit {
    @Override
    public boolean isPod() {
      return true;
    }

    @Override
    public PodTransport transport() {
      return PodTransport.PLAIN;
    }

    @Override
    public void release(ThrottleDecision.Ending ending) {
      // Unlimited.
    }

    @Override
    public ThrottleDecision.@Nullable QueueEntry retry(QueuedCaller caller, boolean connected) {
      return null;
    }
  }

  private static final StatSink NO_AUTOSCALER = new StatSink() {
    @Override
    public void atOnce(List<RevisionStat> stats) {
      // Not reported.
    }

    @Override
    public void report(List<RevisionStat> stats) {
      // Not reported.
    }
  };

  private void send(int port, CountDownLatch left) {
    connect(port, new Client(() -> {
      left.countDown();
      return left.getCount() > 0;
    }));
  }

  Client connect(int port, Client client) {
    var connected = new Bootstrap().group(group).channel(NettyTransport.of(group.next()).socket())
        .handler(client).connect(LOOPBACK, port);
    ends.add(connected.channel()::close);
    return client;
  }

  abstract static class Peer extends SimpleChannelInboundHandler<ByteBuf> {
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cut) {
      log.debug("A connection of the warm-up ended", cut);
      context.close();
    }
  }

  /** A client that sends requests one at a time. */
  static final class Client extends Peer {
    private final BooleanSupplier answered;
    private int sent;
    private volatile @Nullable Channel connection;

    /** @param answered called for each answer; returns whether to send the next request at once */
    Client(BooleanSupplier answered) {
      this.answered = answered;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      connection = context.channel();
      send();
    }

    void send() {
      var open = connection;
      if (open != null) {
        open.writeAndFlush((sent++ % 4 == 3 ? POST : GET).duplicate());
      }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf read) {
      if (endsWith(read, END) && answered.getAsBoolean()) {
        send();
      }
    }
  }

  /** A pod. It recognises the end of a request by its headers, or by a body of the letter x. */
  private static final class Pod extends Peer {
    private boolean body;

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf read) {
      String text = read.toString(StandardCharsets.US_ASCII);
      body |= text.startsWith("POST");
      if (body ? text.endsWith("x") : text.endsWith("\r\n\r\n")) {
        body = false;
        context.writeAndFlush(ANSWER.duplicate());
      }
    }
  }

  private static boolean endsWith(ByteBuf bytes, String end) {
    int from = bytes.writerIndex() - end.length();
    return from >= bytes.readerIndex()
        && bytes.toString(from, end.length(), StandardCharsets.US_ASCII).equals(end);
  }
}
