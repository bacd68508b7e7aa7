package dev.activator.ext.tcp;

import dev.activator.ext.tcp.policy.IdleRule;
import dev.activator.ext.tcp.policy.TcpConnectionState;
import dev.activator.ext.tcp.policy.TcpConnectionState.Action;
import dev.activator.ext.tcp.policy.TcpConnectionState.End;
import dev.activator.ext.tcp.policy.TcpConnectionState.Event;
import dev.activator.ext.tcp.policy.TcpConnectionState.Phase;
import dev.activator.loop.LogLimit;
import dev.activator.loop.Loop;
import dev.activator.loop.NettyTransport;
import dev.activator.loop.ResettableTimer;
import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.exchange.Exchange;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.TimeoutKind;
import dev.activator.revision.LiveRevision;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;
import dev.activator.throttle.ThrottleDecision;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.throttle.ThrottleDecision.QueueEntry;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import dev.activator.throttle.ThrottleDecision.Rejection;
import dev.activator.upstream.PodConnectionPools.OpenListener;
import dev.activator.upstream.UpstreamFailure;
import dev.activator.upstream.UpstreamPool.Dial;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries one connection to a pod: takes a permit as a request does, holds the client's first bytes
 * meanwhile, and passes bytes in both directions. {@link TcpConnectionState} decides.
 *
 * <p><b>Threads.</b> Confined to the loop of its client's channel.
 */
final class TcpConnection extends ObservedConnection implements QueuedCaller, OpenListener {
  private static final Logger log = LoggerFactory.getLogger(TcpConnection.class);
  /** A pod that is gone does not refuse a connection. */
  private static final long CONNECT_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);
  /** The statuses in meters and logs, as of an upgraded connection. */
  private static final int SERVED = 200;
  private static final int RESPONDING = 101;
  private static final int CLIENT_CLOSED = 499;

  private final LogLimit refusals;
  private final RevisionCount count;
  private final TcpSide client;
  private final ResettableTimer timer;
  private TcpConnectionState state = TcpConnectionState.ACCEPTED;
  /** The client's first bytes; null if there are none, or if the pod has them. */
  private @Nullable ByteBuf held;
  private @Nullable QueueEntry queued;
  private @Nullable Permit permit;
  private @Nullable Dial dial;
  private @Nullable TcpSide pod;
  private IdleRule idleRule = IdleRule.NONE;
  private long lastByteNanos;
  /** Whether the connection counts for the autoscaler. */
  private boolean counted = true;
  /** Whether everything is given back. */
  private boolean over;
  /** How the last pod ended. */
  private UpstreamFailure podFailure = UpstreamFailure.CLOSED;
  /** Why it was refused; null unless it was. */
  private @Nullable RequestFailure refusal;

  private TcpConnection(Channel client, InetSocketAddress peer, RequestDispatcher dispatcher,
      LiveRevision live, LogLimit refusals) {
    super(dispatcher, live, peer);
    this.refusals = refusals;
    this.count = dispatcher.counter().of(live);
    this.client = new TcpSide(client, this);
    this.timer = new ResettableTimer(dispatcher.loop(), this::timeOut);
  }

  /** @param refusals limits the log lines about connections of this port */
  static void accept(Channel client, RequestDispatcher dispatcher, LiveRevision live,
      LogLimit refusals) {
    // One that is gone already has no address.
    if (client.remoteAddress() instanceof InetSocketAddress peer) {
      var connection = new TcpConnection(client, peer, dispatcher, live, refusals);
      client.pipeline().addLast(connection.client);
      connection.begin();
    } else {
      NettyTransport.reset(client);
    }
  }

  private void begin() {
    saw(Step.ARRIVED);
    count.arrived();
    ThrottleDecision admission;
    try {
      admission = dispatcher.throttle().apply(live, this);
    } catch (RuntimeException e) {
      log.error("Admitting a connection to {} failed", live, e);
      refuse(new RequestFailure.Internal(), Event.REJECTED);
      return;
    }
    switch (admission) {
      case Permit now -> granted(now);
      case QueueEntry later -> {
        queue(later);
        if (dispatcher.held().isFull(later.heldBytes())) {
          refuse(new RequestFailure.MemoryFull(later.retryAfterSeconds()), Event.REJECTED);
        }
      }
      case ThrottleDecision.NoRoom _ ->
        throw new IllegalStateException("a connection may wait");
    }
  }

  private void queue(QueueEntry later) {
    queued = later;
    later.addHeldBytes(heldBytes());
    queued();
    limitWait(later);
    updateReading();
  }

  private void limitWait(QueueEntry entry) {
    long left = Math.min(entry.limits().untilCheck(passedNanos(), entry.podsNanos()),
        overallLeft());
    if (left != DeadlineCalculator.NONE) {
      timer.within(Math.max(0, left));
    }
  }

  /** The timeout of requests limits how long a connection may wait, not how long it stays open. */
  private long overallLeft() {
    return live.spec().timeouts().overall().toNanos() - passedNanos();
  }

  private void timeOut() {
    var entry = queued;
    if (entry != null) {
      long left = entry.limits().left(passedNanos(), entry.podsNanos());
      if (Math.min(left, overallLeft()) > 0) {
        limitWait(entry);
      } else {
        var kind = overallLeft() <= 0
            ? TimeoutKind.OVERALL
            : DeadlineCalculator.overInQueue(DeadlineCalculator.NONE, passedNanos(),
                entry.limits().isForStart(entry.podsNanos()));
        refuse(new RequestFailure.TimedOut(kind,
            dispatcher.seams().starts().of(live).why()), Event.WAITED_TOO_LONG);
      }
    } else if (dial != null) {
      var late = dial.timedOut();
      dial = null;
      failed(late);
    } else if (state.phase() == Phase.OPEN) {
      checkIdle();
    }
  }

  private void checkIdle() {
    if (client.hasUnsent() || Objects.requireNonNull(pod).hasUnsent()) {
      // One side is slow.
      lastByteNanos = now();
    }
    long left = idleRule.left(now() - lastByteNanos);
    if (left > 0) {
      timer.within(left);
    } else if (idleRule.closes()) {
      on(Event.IDLE);
    } else {
      counted = false;
      count.left();
    }
  }

  private void bytePassed() {
    lastByteNanos = now();
    if (!counted) {
      counted = true;
      count.arrived();
      timer.within(idleRule.after());
    }
  }

  @Override
  public Loop loop() {
    return dispatcher.loop();
  }

  @Override
  public long maxWaitNanos() {
    return DeadlineCalculator.NONE;
  }

  @Override
  public void granted(Permit granted) {
    leaveQueue();
    permit = granted;
    granted(granted.destination(), granted.destination());
    on(Event.GRANTED);
  }

  @Override
  public void rejected(Rejection reason) {
    leaveQueue();
    refuse(dispatcher.seams().starts().failure(reason), Event.REJECTED);
  }

  private void leaveQueue() {
    timer.cancel();
    if (queued != null) {
      queued.addHeldBytes(-heldBytes());
      queued = null;
    }
  }

  private void refuse(RequestFailure why, Event event) {
    refusal = why;
    on(event);
  }

  @Override
  public void connected(Channel opened) {
    timer.cancel();
    dial = null;
    connected();
    pod = new TcpSide(opened, this);
    opened.pipeline().addLast(pod);
    on(Event.CONNECTED);
  }

  @Override
  public void failed(UpstreamFailure why) {
    timer.cancel();
    dial = null;
    podFailure = why;
    on(Event.NOT_CONNECTED);
  }

  /** Bytes of one side. */
  void read(TcpSide from, ByteBuf bytes) {
    var to = from == client ? pod : client;
    if (from == client) {
      read(bytes.readableBytes());
    } else {
      wrote(bytes.readableBytes());
    }
    if (state.phase() == Phase.ENDED) {
      bytes.release();
    } else if (to == null || state.phase() != Phase.OPEN) {
      hold(bytes);
    } else {
      to.write(bytes);
      if (idleRule.applies()) {
        bytePassed();
      }
      if (from == client && !state.sent()) {
        on(Event.SENT);
      } else if (from != client && !state.received()) {
        responding(RESPONDING);
        on(Event.RECEIVED);
      }
      from.setReading(to.isWritable());
    }
  }

  /** Copies the bytes into one buffer, because a client may send each byte in a separate packet. */
  private void hold(ByteBuf bytes) {
    int more = bytes.readableBytes();
    var all = held == null ? client.channel().alloc().buffer(more) : held;
    held = all.writeBytes(bytes);
    bytes.release();
    dispatcher.held().add(more);
    if (queued != null) {
      queued.addHeldBytes(more);
    }
    on(Event.HELD);
    updateReading();
  }

  private int heldBytes() {
    return held == null ? 0 : held.readableBytes();
  }

  private void updateReading() {
    if (state.phase() != Phase.ENDED) {
      client.setReading(heldBytes() < (queued == null
          ? dispatcher.held().windowWhileForwarding()
          : dispatcher.held().windowWhileQueued(queued.heldBytes())));
    }
  }

  void readComplete(TcpSide from) {
    var to = from == client ? pod : client;
    if (to != null && state.phase() == Phase.OPEN) {
      to.flush();
    }
  }

  void writabilityChanged(TcpSide of) {
    var other = of == client ? pod : client;
    if (other != null && state.phase() == Phase.OPEN) {
      other.setReading(of.isWritable());
    }
  }

  void inputEnded(TcpSide of) {
    if (of == client) {
      on(Event.CLIENT_ENDED);
    } else if (of == pod) {
      podFailure = UpstreamFailure.CLOSED;
      on(Event.POD_ENDED);
    }
  }

  void gone(TcpSide side, UpstreamFailure why) {
    if (side == client) {
      on(Event.CLIENT_GONE);
    } else if (side == pod) {
      podFailure = why;
      on(Event.POD_GONE);
    }
  }

  private void on(Event event) {
    var step = state.on(event);
    state = step.next();
    step.actions().forEach(this::run);
    if (state.end() != null && !over) {
      over = true;
      end(state.end());
    }
  }

  private void run(Action action) {
    switch (action) {
      case DIAL -> {
        timer.within(CONNECT_TIMEOUT_NANOS);
        saw(Step.FORWARDING);
        dial = dispatcher.pools().open(Objects.requireNonNull(permit).destination(), this);
      }
      case JOIN -> join(Objects.requireNonNull(pod));
      case TRY_ANOTHER_POD -> tryAnotherPod();
      case END_TO_POD -> Objects.requireNonNull(pod).endOutput();
      case END_TO_CLIENT -> client.endOutput();
      case RESET_CLIENT -> client.reset();
      case RESET_POD -> Objects.requireNonNull(pod).reset();
    }
  }

  private void join(TcpSide to) {
    if (held != null) {
      var first = held;
      held = null;
      dispatcher.held().add(-first.readableBytes());
      to.write(first);
      to.flush();
    }
    to.setReading(client.isWritable());
    client.setReading(to.isWritable());
    idleRule = IdleRule.of(live.spec().annotations());
    if (idleRule.applies()) {
      lastByteNanos = now();
      timer.within(idleRule.after());
    }
  }

  private void tryAnotherPod() {
    var failed = Objects.requireNonNull(permit);
    permit = null;
    boolean connected = pod != null;
    if (pod != null) {
      pod.abandon();
      pod = null;
    }
    timer.cancel();
    if (!counted) {
      counted = true;
      count.arrived();
    }
    undelivered(podFailure.text());
    var again = failed.retry(this, connected);
    if (again == null) {
      on(Event.NO_OTHER_POD);
    } else {
      queue(again);
    }
  }

  private void end(End how) {
    var entry = queued;
    leaveQueue();
    if (entry != null) {
      entry.giveUp();
    }
    if (dial != null) {
      dial.cancel();
      dial = null;
    }
    if (held != null) {
      dispatcher.held().add(-heldBytes());
      held.release();
      held = null;
    }
    if (how == End.CLOSED) {
      client.closeWhenSent();
      Objects.requireNonNull(pod).closeWhenSent();
    } else if (how == End.IDLE) {
      client.closeGracefully();
      Objects.requireNonNull(pod).closeGracefully();
    } else if (how == End.POD_FAILED && pod != null) {
      pod.abandon();
    }
    releasePermit(how);
    if (counted) {
      count.left();
    }
    switch (how) {
      case CLOSED, IDLE -> ended(RequestOutcome.UPGRADED, SERVED);
      case CLIENT_GONE -> ended(RequestOutcome.CALLER_GONE, CLIENT_CLOSED);
      case REJECTED, WAITED_TOO_LONG -> refused(Objects.requireNonNull(refusal));
      case POD_FAILED -> {
        failed(podFailure.text());
        refused(new RequestFailure.BadGateway(podFailure.text()));
      }
    }
  }

  private void refused(RequestFailure why) {
    ended(Exchange.outcome(why), why.answer().status());
    refusals.log(now(), others -> log.info("A connection of {} to {} was reset: {}. {} others"
        + " were since the last such line", peer(), live, why.answer().body().strip(), others));
  }

  /** A pod may run the connection until it is closed. */
  private void releasePermit(End how) {
    var given = permit;
    permit = null;
    if (given == null) {
      return;
    }
    var ending = switch (how) {
      case CLOSED, IDLE -> Ending.ANSWERED;
      case CLIENT_GONE -> Ending.ABANDONED;
      case POD_FAILED -> Ending.BROKEN;
      case REJECTED, WAITED_TOO_LONG -> Ending.UNCOUNTED;
    };
    if (pod == null) {
      given.release(ending);
    } else {
      pod.channel().closeFuture().addListener(_ -> given.release(ending));
    }
  }
}
