package dev.activator.ext.tcp;

import dev.activator.ext.tcp.policy.IdleRule;
import dev.activator.ext.tcp.policy.TcpConnectionState;
import dev.activator.ext.tcp.policy.TcpConnectionState.Action;
import dev.activator.ext.tcp.policy.TcpConnectionState.End;
import dev.activator.ext.tcp.policy.TcpConnectionState.Event;
import dev.activator.ext.tcp.policy.TcpConnectionState.Phase;
import dev.activator.loop.LogLimit;
import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.revision.Destination;
import dev.activator.revision.LiveRevision;
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
  private final ConnectionCount count;
  private final TcpSide client;
  private final FirstBytes first;
  private final ResettableTimer timer;
  private TcpConnectionState state = TcpConnectionState.ACCEPTED;
  private @Nullable ConnectionWait queued;
  private @Nullable Permit permit;
  private @Nullable Dial dial;
  private @Nullable TcpSide pod;
  /** Whether everything is given back. */
  private boolean over;
  /** How the last pod ended. */
  private UpstreamFailure podFailure = UpstreamFailure.CLOSED;
  /** Why it was refused; null unless it was. */
  private @Nullable RequestFailure refusal;

  private TcpConnection(Channel client, ConnectionAddresses addresses,
      RequestDispatcher dispatcher, LiveRevision live, LogLimit refusals) {
    super(dispatcher, live, addresses);
    this.refusals = refusals;
    this.client = new TcpSide(client, this);
    this.first = new FirstBytes(client, dispatcher.held());
    this.count = new ConnectionCount(this, dispatcher.counter().of(live));
    this.timer = new ResettableTimer(dispatcher.loop(), this::timeOut);
  }

  /** @param refusals limits the log lines about connections of this port */
  static void accept(Channel client, ConnectionAddresses addresses, RequestDispatcher dispatcher,
      LiveRevision live, LogLimit refusals) {
    var connection = new TcpConnection(client, addresses, dispatcher, live, refusals);
    client.pipeline().addLast(connection.client);
    connection.begin();
  }

  private void begin() {
    saw(Step.ARRIVED);
    count.accepted();
    admit(new ConnectionWait.Unqueued(loop()));
  }

  /** The connection is no health check. */
  void begun() {
    if (state.phase() == Phase.WAITING && queued == null) {
      admit(this);
    }
  }

  private void admit(QueuedCaller as) {
    ThrottleDecision admission;
    try {
      admission = dispatcher.throttle().apply(live, as);
    } catch (RuntimeException e) {
      log.error("Admitting a connection to {} failed", live, e);
      refuse(RequestFailure.internal(), Event.REJECTED);
      return;
    }
    switch (admission) {
      case Permit now -> granted(now);
      case QueueEntry later -> {
        queue(later);
        if (dispatcher.held().isFull(later.heldBytes())) {
          refuse(RequestFailure.memoryFull(later.retryAfterSeconds()), Event.REJECTED);
        }
      }
      case ThrottleDecision.NoRoom _ -> {
        // It waits once it is known not to be a health check, which must not start a pod.
      }
    }
  }

  private void queue(QueueEntry later) {
    queued = new ConnectionWait(live.spec(), later);
    first.enter(later);
    queued();
    timer.within(queued.untilCheck(passedNanos()));
    updateReading();
  }

  private void timeOut() {
    var wait = queued;
    if (wait != null) {
      var timeout = wait.timeout(passedNanos());
      if (timeout == null) {
        timer.within(wait.untilCheck(passedNanos()));
      } else {
        refuse(RequestFailure.timedOut(timeout,
            dispatcher.seams().starts().of(live).why()), Event.WAITED_TOO_LONG);
      }
    } else if (dial != null) {
      var late = dial.timedOut();
      dial = null;
      failed(late);
    }
  }

  /** Whether one side has not read everything. */
  boolean hasUnsent() {
    return client.hasUnsent() || pod != null && pod.hasUnsent();
  }

  void idle() {
    on(Event.IDLE);
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
    on(Event.GRANTED);
  }

  @Override
  public void rejected(Rejection reason) {
    leaveQueue();
    refuse(dispatcher.seams().starts().failure(reason), Event.REJECTED);
  }

  private void leaveQueue() {
    timer.cancel();
    first.leaveQueue();
    queued = null;
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
    if (from == client) {
      count.begin();
    }
    var to = from == client ? pod : client;
    if (from == client) {
      read(bytes.readableBytes());
    } else {
      wrote(bytes.readableBytes());
    }
    if (state.phase() == Phase.ENDED) {
      bytes.release();
    } else if (to == null || state.phase() != Phase.OPEN) {
      first.add(bytes);
      on(Event.HELD);
      updateReading();
    } else {
      to.write(bytes);
      count.bytePassed();
      if (from == client && !state.sent()) {
        on(Event.SENT);
      } else if (from != client && !state.received()) {
        responding(RESPONDING);
        on(Event.RECEIVED);
      }
      from.setReading(to.isWritable());
    }
  }

  private void updateReading() {
    if (state.phase() != Phase.ENDED) {
      client.setReading(first.hasRoom());
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
    try {
      step.actions().forEach(this::run);
    } catch (RuntimeException e) {
      log.error("Carrying a connection to {} failed", live, e);
      refusal = RequestFailure.internal();
      state = state.on(Event.ERROR).next();
    }
    if (state.end() != null && !over) {
      over = true;
      end(state.end());
    }
  }

  private void run(Action action) {
    switch (action) {
      case DIAL -> dial(Objects.requireNonNull(permit).destination());
      case JOIN -> join(Objects.requireNonNull(pod));
      case TRY_ANOTHER_POD -> tryAnotherPod();
      case END_TO_POD -> Objects.requireNonNull(pod).endOutput();
      case END_TO_CLIENT -> client.endOutput();
      case RESET_CLIENT -> client.reset();
      case RESET_POD -> Objects.requireNonNull(pod).reset();
    }
  }

  private void dial(Destination to) {
    granted(to, to);
    timer.within(CONNECT_TIMEOUT_NANOS);
    saw(Step.FORWARDING);
    dial = dispatcher.pools().open(to, this);
  }

  private void join(TcpSide to) {
    var version = ConnectionAddresses.headerVersion(live);
    if (version != null) {
      to.write(addresses.header(version));
    }
    var held = first.take();
    if (held != null) {
      to.write(held);
    }
    to.flush();
    to.setReading(client.isWritable());
    client.setReading(to.isWritable());
    count.opened(IdleRule.of(live.spec().annotations()));
  }

  private void tryAnotherPod() {
    var failed = Objects.requireNonNull(permit);
    permit = null;
    boolean connected = pod != null;
    abandonPod();
    pod = null;
    timer.cancel();
    count.waits();
    undelivered(podFailure.text());
    var again = failed.retry(this, connected);
    if (again == null) {
      on(Event.NO_OTHER_POD);
    } else {
      queue(again);
    }
  }

  private void end(End how) {
    try {
      giveBack();
      closeSides(how);
    } finally {
      releasePermit(how);
      count.end();
    }
    switch (how) {
      case CLOSED, IDLE -> ended(RequestOutcome.UPGRADED, SERVED);
      case CLIENT_GONE -> ended(RequestOutcome.CALLER_GONE, CLIENT_CLOSED);
      case REJECTED, WAITED_TOO_LONG, ERROR -> refused(Objects.requireNonNull(refusal));
      case POD_FAILED -> {
        failed(podFailure.text());
        refused(RequestFailure.badGateway(podFailure.text()));
      }
    }
  }

  private void giveBack() {
    var wait = queued;
    leaveQueue();
    if (wait != null) {
      wait.entry().giveUp();
    }
    if (dial != null) {
      dial.cancel();
      dial = null;
    }
    first.drop();
  }

  private void closeSides(End how) {
    switch (how) {
      case CLOSED -> {
        client.closeWhenSent();
        Objects.requireNonNull(pod).closeWhenSent();
      }
      case IDLE -> {
        client.closeGracefully();
        Objects.requireNonNull(pod).closeGracefully();
      }
      case POD_FAILED -> abandonPod();
      case ERROR -> {
        abandonPod();
        client.reset();
      }
      case CLIENT_GONE, REJECTED, WAITED_TOO_LONG -> {
        // The state machine has reset what is open.
      }
    }
  }

  private void abandonPod() {
    if (pod != null) {
      pod.abandon();
    }
  }

  private void refused(RequestFailure why) {
    ended(why.outcome(), why.answer().status());
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
      case REJECTED, WAITED_TOO_LONG, ERROR -> Ending.UNCOUNTED;
    };
    if (pod == null) {
      given.release(ending);
    } else {
      pod.channel().closeFuture().addListener(_ -> given.release(ending));
    }
  }
}
