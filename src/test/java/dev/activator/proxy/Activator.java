package dev.activator.proxy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.activator.config.WaitingPageMode;
import dev.activator.lifecycle.Readiness;
import dev.activator.loop.Loop;
import dev.activator.loop.LoopGroup;
import dev.activator.loop.TcpKeepAlive;
import dev.activator.proxy.exchange.Dispatchers;
import dev.activator.proxy.exchange.HeldRequestBytes;
import dev.activator.proxy.exchange.RevisionStarts;
import dev.activator.proxy.exchange.Router;
import dev.activator.proxy.exchange.Seams.Arrival;
import dev.activator.proxy.exchange.UnreadResponseBytes;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.proxy.policy.RevisionResolver;
import dev.activator.proxy.policy.RevisionResolver.HostRouter;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.proxy.policy.UnreadResponseBudget;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.CountedLoops;
import dev.activator.testing.FakeThrottle;
import dev.activator.testing.FreePort;
import dev.activator.testing.RawPeer;
import dev.activator.testing.RequestCounts;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.tls.PodTls;
import dev.activator.upstream.ConnectionPoolsByLoop;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.ResourceLeakDetector;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** A proxy on a free port, with one revision, {@code default/hello-00001}, and fakes around it. */
public final class Activator implements Closeable {
  public static final RevisionId HELLO = new RevisionId("default", "hello-00001");
  /** One that cannot be looked up. */
  private static final RevisionId BROKEN = new RevisionId("default", "broken");
  static final String[] TO_HELLO = {"Host: hello.example", "Knative-Serving-Namespace: default",
      "Knative-Serving-Revision: hello-00001"};

  /**
   * How a test's proxy is set up.
   *
   * @param services which Service pods are addressed by; null for the pods themselves
   * @param slowness how many seconds a second of the proxy takes
   */
  public record Settings(HostRouter hosts, Function<RevisionId, @Nullable String> services,
      Duration headTimeout, long heldBytes, long unreadBytes, boolean startMessages, int slowness) {
    public static final Settings DEFAULT = new Settings((_, _, _) -> null, _ -> null,
        Duration.ofSeconds(60),
        256 << 20, 256 << 20, false, 1);

    public Settings hosts(HostRouter rule) {
      return new Settings(rule, services, headTimeout, heldBytes, unreadBytes, startMessages,
          slowness);
    }

    Settings services(Function<RevisionId, @Nullable String> other) {
      return new Settings(hosts, other, headTimeout, heldBytes, unreadBytes, startMessages,
          slowness);
    }

    Settings headTimeout(Duration timeout) {
      return new Settings(hosts, services, timeout, heldBytes, unreadBytes, startMessages,
          slowness);
    }

    Settings holding(long bytes) {
      return new Settings(hosts, services, headTimeout, bytes, unreadBytes, startMessages,
          slowness);
    }

    /** How much of responses may be held that callers do not take. */
    Settings unread(long bytes) {
      return new Settings(hosts, services, headTimeout, heldBytes, bytes, startMessages, slowness);
    }

    Settings tellingAllOfStarts() {
      return new Settings(hosts, services, headTimeout, heldBytes, unreadBytes, true, slowness);
    }

    /** A pod or a caller that waits some seconds for a core is not too late. */
    Settings slow() {
      return new Settings(hosts, services, headTimeout, heldBytes, unreadBytes, startMessages, 20);
    }
  }

  /** Errors of Netty: buffers leaked, or released twice. */
  private static final ListAppender<ILoggingEvent> LEAKS = new ListAppender<>();

  static {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    LEAKS.start();
    var netty = (Logger) LoggerFactory.getLogger("io.netty");
    netty.setLevel(Level.WARN);
    netty.addAppender(LEAKS);
  }

  public final FakeThrottle throttle = new FakeThrottle();
  /** Gives permits, unless a test wants the product's. */
  public volatile BiFunction<LiveRevision, QueuedCaller, ThrottleDecision> admission = throttle::admit;
  final LoopGroup loops;
  final ConnectionPoolsByLoop upstreams;
  public final AtomicInteger counted = new AtomicInteger();
  public final AtomicInteger arrivals = new AtomicInteger();
  public final SeenRequests requests = new SeenRequests();
  public final TestRevisions revisions;
  volatile Readiness readiness = new Readiness.Ready();
  private final CountedLoops group;
  public final ProxyServer server;
  public final HeldRequestBytes held;
  final UnreadResponseBytes unread;
  public final int port;

  public volatile StartStatus status = StartStatus.UNKNOWN;

  Activator() throws IOException {
    this(Settings.DEFAULT);
  }

  public Activator(Settings settings) throws IOException {
    this(settings, new PodTls(TestRevisions.unused()));
  }

  Activator(Settings settings, PodTls tls) throws IOException {
    this(settings, tls, nativeIo());
  }

  Activator(Settings settings, PodTls tls, IoHandlerFactory io) throws IOException {
    this(settings, tls, io, TcpKeepAlive.TO_PODS, 2);
  }

  Activator(Settings settings, PodTls tls, IoHandlerFactory io, TcpKeepAlive keepAlive)
      throws IOException {
    this(settings, tls, io, keepAlive, 2);
  }

  /** @param threads how many event loops */
  Activator(Settings settings, PodTls tls, IoHandlerFactory io, TcpKeepAlive keepAlive, int threads)
      throws IOException {
    group = new CountedLoops(threads, io);
    loops = new LoopGroup(group);
    revisions = new TestRevisions(loops::loopFor, Revision.of(HELLO, 0), Revision.of(BROKEN, 0));
    upstreams = new ConnectionPoolsByLoop(loops, IdleLimits.DEFAULT, keepAlive, new Random(1), tls);
    held = new HeldRequestBytes(new HeldMemoryLimit(settings.heldBytes()));
    unread = new UnreadResponseBytes(new UnreadResponseBudget(settings.unreadBytes()));
    var router = new Router(new RevisionResolver.Knative("cluster.local", settings.hosts()),
        settings.services(), revisions.live, () -> readiness, Arrival.first(List.of(
            (revision, _, _, _) -> failIf(revision.id().equals(BROKEN)),
            Dispatchers.arrival(WaitingPageMode.OFF, List.of()))));
    var starts = new RevisionStarts(revisions.live, settings.startMessages(), _ -> status,
        RevisionStarts.EarlyAnswers.NONE);
    server = new ProxyServer(group, group, loops, settings.headTimeout(),
        loop -> Dispatchers
            .with(new SlowLoop(loop, settings.slowness()), router,
                (revision, caller) -> admission.apply(revision, caller), upstreams.of(loop))
            .counter(new Counter())
            .observer(requests).held(held.share())
            .unread(unread.share(new SlowLoop(loop, settings.slowness())))
            .starts(starts).fallbacks(revisions.live).build());
    port = listen();
  }

  /** On no ephemeral port: once it is closed, another test's server must not come to listen there. */
  private int listen() {
    while (true) {
      try {
        return server.listen("127.0.0.1", FreePort.next());
      } catch (IOException taken) {
        // By another process, since it was looked at.
        continue;
      }
    }
  }

  static IoHandlerFactory nativeIo() {
    return Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
  }

  /** Gives the revision these timeouts. */
  Activator timeouts(Duration overall, Duration start, Duration idle) {
    var plain = Revision.of(HELLO, 0);
    revisions.put(new Revision(HELLO, "", plain.protocol(), 0,
        new RequestTimeouts(overall, start, idle), true, null, Map.of(), Map.of(), null));
    return this;
  }

  /** Its pods have no queue-proxy, and are probed so. */
  void container(ReadinessProbeSpec probe, int containerConcurrency) {
    revisions.put(
        new Revision(HELLO, "", PortProtocol.HTTP1, containerConcurrency, RequestTimeouts.DEFAULT,
            true,
            probe, Map.of(), Map.of(), null));
  }

  /** Runs a task on one of its event loops. */
  void onLoop(Runnable task) {
    group.next().execute(task);
  }

  /** Returns when all that its event loops have begun is done: a request that is refused is queued for a moment. */
  public void awaitTurn() {
    group.forEach(loop -> loop.submit(() -> {
    }).syncUninterruptibly());
  }

  /** Takes its threads away, and with them what listens. */
  void loseThreads() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  public RawPeer connect() throws IOException {
    return RawPeer.connect(port);
  }

  /** A new connection on which a GET for the revision was sent. */
  public RawPeer get(String path, String... headers) throws IOException {
    var peer = connect();
    request(peer, "GET " + path + " HTTP/1.1", headers);
    return peer;
  }

  public static void request(RawPeer peer, String line, String... headers) throws IOException {
    peer.send(line + "\r\n" + String.join("\r\n", TO_HELLO) + "\r\n"
        + (headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n") + "\r\n");
  }

  private static Arrival.@Nullable Instead failIf(boolean broken) {
    if (broken) {
      throw new IllegalStateException("on purpose");
    }
    return null;
  }

  /** Reports the buffers that are lost, as Netty does once they are garbage and others are allocated. */
  static void collectLeaks() {
    for (int i = 0; i < 3; i++) {
      System.gc();
      for (int j = 0; j < 100; j++) {
        ByteBufAllocator.DEFAULT.directBuffer(16).release();
      }
    }
  }

  /** Fails if a buffer was reported as lost, or released twice, since the process started. */
  static void assertNoLeak() {
    List.copyOf(LEAKS.list).stream().map(ILoggingEvent::getFormattedMessage)
        // Servers of other classes that end while a connection comes.
        .filter(message -> !message.contains("Task: reactor.netty.channel.FluxReceive")
            && !message.startsWith("Force-closing a channel whose registration task")
            && !message.startsWith("Failed to submit a listener notification task"))
        .findFirst().ifPresent(message -> {
          throw new AssertionError(message);
        });
  }

  @Override
  public void close() {
    server.close();
    if (!group.isShuttingDown()) {
      upstreams.close();
      Quiescence.check(upstreams, held, unread, throttle, (LongSupplier) requests::open,
          (LongSupplier) counted::get);
      Quiescence.garbage(requests.forget());
    }
    if (!group.shutdownGracefully(0, 5, TimeUnit.SECONDS)
        .awaitUninterruptibly(120, TimeUnit.SECONDS)) {
      throw new AssertionError("the event loops do not end");
    }
    Quiescence.check(group);
  }

  private record SlowLoop(Loop loop, int slowness) implements Loop {
    @Override
    public void execute(Runnable task) {
      loop.execute(task);
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return loop.schedule(delay.multipliedBy(slowness), task);
    }

    @Override
    public long nanoTime() {
      return loop.nanoTime() / slowness;
    }
  }

  private final class Counter extends RequestCounts {
    @Override
    public void arrived(RevisionId revision) {
      arrivals.incrementAndGet();
      counted.incrementAndGet();
    }

    @Override
    public void left(RevisionId revision) {
      if (counted.decrementAndGet() < 0) {
        throw new AssertionError("left twice");
      }
    }
  }
}
