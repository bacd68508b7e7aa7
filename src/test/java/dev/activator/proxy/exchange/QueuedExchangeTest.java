package dev.activator.proxy.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.activator.throttle.policy.WaitLimits;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.Make;
import dev.activator.tls.PodTls;
import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyLoop;
import dev.activator.http.HeaderFieldList;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.Throttler;
import dev.activator.proxy.policy.HeldMemoryLimit;
import dev.activator.testing.quiescence.Quiescence;
import dev.activator.upstream.ConnectionPoolsByLoop.IdleLimits;
import dev.activator.upstream.ConnectionPoolsByLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a request takes in memory while it waits, without its connection. */
class QueuedExchangeTest {
  private static final Revision HELLO = Revision.of(new RevisionId("default", "hello-00001"), 1);
  private static final int HELD = 20_000;
  private static final int MOST_BYTES = 2_048;

  private final ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final VirtualLoop revisionLoop = VirtualLoop.nearOverflow();
  private final List<Exchange> exchanges = new ArrayList<>(2 * HELD);
  private final TestRevisions revisions = new TestRevisions(revisionLoop, HELLO);
  private final Throttler throttler = Make.throttler(revisions.live, 10 * HELD);

  @AfterEach
  void stop() {
    group.shutdownGracefully(0, 0, TimeUnit.SECONDS);
  }

  @Test
  void isTwoKilobytesAtMostWithAHeadOfEightFields() {
    var dispatcher = dispatcher();
    hold(dispatcher);

    long before = thread.getCurrentThreadAllocatedBytes();
    hold(dispatcher);
    long each = (thread.getCurrentThreadAllocatedBytes() - before) / HELD;

    // a fifth more than it keeps: the messages to the revision's loop are among it
    assertThat(each).isLessThan(MOST_BYTES);
    assertThat(throttler.view(HELLO.id()).queued()).isEqualTo(2 * HELD);
  }

  @Test
  void holdsNothing_whenLeavingTheQueueFails() {
    var entry = new BrokenEntry();
    var held = Quiescence.watch(new HeldRequestBytes(new HeldMemoryLimit(Long.MAX_VALUE)));
    var loop = VirtualLoop.nearOverflow();
    var caller = new SilentCaller(loop);
    Dispatchers.dispatch(
        Dispatchers.of(loop, HELLO, (_, _) -> entry, new FakePod(), held.share()), request(),
        caller);
    assertThat(held.total()).isPositive();

    assertThatThrownBy(caller.exchange()::callerGone).hasMessage("on purpose");

    assertThat(held.total()).isZero();
    assertThat(entry.heldBytes).isZero();
    loop.advance(Duration.ofHours(1));
  }

  /** The pods come after 50 s. The caller may wait 60 s for them, and then 20 s for a free one. */
  @Test
  void limitsTheWaitForAStartAndTheWaitForAFreePodSeparately() {
    var entry = new Entry();
    entry.limits = new WaitLimits(Duration.ofSeconds(20), Duration.ofSeconds(60));
    var loop = VirtualLoop.nearOverflow();
    var caller = queued(loop, entry);

    loop.advance(Duration.ofSeconds(50));
    assertThat(caller.statuses).isEmpty();
    long pods = loop.nanoTime();
    entry.podsNanos = () -> loop.nanoTime() - pods;
    loop.advance(Duration.ofSeconds(20).minusNanos(1));
    assertThat(caller.statuses).isEmpty();
    loop.advance(Duration.ofNanos(1));
    assertThat(caller.statuses).containsExactly(504);
  }

  @Test
  void endsTheWaitForAStartAtItsOwnLimit() {
    var entry = new Entry();
    entry.limits = new WaitLimits(Duration.ofSeconds(20), Duration.ofSeconds(60));
    var loop = VirtualLoop.nearOverflow();
    var caller = queued(loop, entry);

    loop.advance(Duration.ofSeconds(60).minusNanos(1));
    assertThat(caller.statuses).isEmpty();
    loop.advance(Duration.ofNanos(1));
    assertThat(caller.statuses).containsExactly(504);
  }

  private static SilentCaller queued(VirtualLoop loop, QueueEntry entry) {
    var held = Quiescence.watch(new HeldRequestBytes(new HeldMemoryLimit(Long.MAX_VALUE)));
    var caller = new SilentCaller(loop);
    Dispatchers.dispatch(
        Dispatchers.of(loop, HELLO, (_, _) -> entry, new FakePod(), held.share()), request(),
        caller);
    return caller;
  }

  private static class Entry implements QueueEntry {
    private WaitLimits limits = WaitLimits.NONE;
    private LongSupplier podsNanos = () -> WaitLimits.NO_PODS;
    long heldBytes;

    @Override
    public void giveUp() {
      // It leaves.
    }

    @Override
    public WaitLimits limits() {
      return limits;
    }

    @Override
    public long podsNanos() {
      return podsNanos.getAsLong();
    }

    @Override
    public int retryAfterSeconds() {
      return 1;
    }

    @Override
    public void addHeldBytes(int moreBytes) {
      heldBytes += moreBytes;
    }

    @Override
    public long heldBytes() {
      return heldBytes;
    }
  }

  private static final class BrokenEntry extends Entry {
    @Override
    public void giveUp() {
      throw new IllegalStateException("on purpose");
    }
  }

  @AfterEach
  void callersLeave() {
    exchanges.forEach(Exchange::callerGone);
    revisionLoop.run();
  }

  private void hold(RequestDispatcher dispatcher) {
    // one timer for all: it belongs to the connection
    var caller = new SilentCaller(VirtualLoop.nearOverflow());
    for (int i = 0; i < HELD; i++) {
      var request = request();
      var route = new Router.ToRevision(revisions.of(HELLO.id()), HELLO, "hello", "/", null, null);
      var exchange = new Exchange(dispatcher, caller, request, route);
      exchange.start();
      exchanges.add(exchange);
      revisionLoop.run();
    }
  }

  /** A head as a browser's, in strings that are its own. */
  private static HttpRequest request() {
    var request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/",
        HeaderFieldList.CHECKED);
    for (String name : new String[]{"Host", "User-Agent", "Accept", "Accept-Language",
        "X-Forwarded-For", "K-Original-Host", "K-Proxy-Request", "X-Request-Id"}) {
      request.headers().add(name, new String("some forty characters that nobody shares"));
    }
    return request;
  }

  private RequestDispatcher dispatcher() {
    EventLoop eventLoop = group.next();
    var loops = new LoopGroup(group);
    NettyLoop loop = loops.all().getFirst();
    assertThat(loop.eventLoop()).isSameAs(eventLoop);
    var upstreams = Quiescence
        .watch(new ConnectionPoolsByLoop(loops, IdleLimits.DEFAULT, new Random(1),
            new PodTls(TestRevisions.unused())));
    var held = Quiescence.watch(new HeldRequestBytes(new HeldMemoryLimit(Long.MAX_VALUE)));
    return Dispatchers.of(loop, HELLO.id(), revisions.live, throttler::admit, upstreams.of(loop),
        held.share(), new UncountedRequests());
  }
}
