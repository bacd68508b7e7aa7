package dev.activator.ext.tcp;

import dev.activator.ext.tcp.policy.TcpConnectionState.Event;
import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
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
import io.netty.channel.Channel;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gets a pod for a connection: waits for a permit in the revision's queue, connects to the pod that it
 * names, and keeps it until the pod's side has ended.
 *
 * <p><b>Threads.</b> Confined to the loop of its client's channel.
 */
final class PodAcquisition implements QueuedCaller, OpenListener {
  private static final Logger log = LoggerFactory.getLogger(PodAcquisition.class);
  /** A pod that is gone does not refuse a connection. */
  private static final long CONNECT_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final TcpConnection connection;
  private final RequestDispatcher dispatcher;
  private final LiveRevision live;
  private final FirstBytes first;
  private final ResettableTimer timer;
  private @Nullable ConnectionWait queued;
  private @Nullable Permit permit;
  private @Nullable Dial dial;

  /** @param first count as bytes of the queue meanwhile */
  PodAcquisition(TcpConnection connection, RequestDispatcher dispatcher, LiveRevision live,
      FirstBytes first) {
    this.connection = connection;
    this.dispatcher = dispatcher;
    this.live = live;
    this.first = first;
    this.timer = new ResettableTimer(dispatcher.loop(), this::timeOut);
  }

  /** Takes a permit that is free; it does not wait for one, which would start a pod. */
  void begin() {
    admit(new ConnectionWait.Unqueued(loop()));
  }

  /** Waits for a permit. Idempotent. */
  void await() {
    if (queued == null) {
      admit(this);
    }
  }

  private void admit(QueuedCaller as) {
    ThrottleDecision admission;
    try {
      admission = dispatcher.throttle().apply(live, as);
    } catch (RuntimeException e) {
      log.error("Admitting a connection to {} failed", live, e);
      connection.refused(RequestFailure.internal(), Event.REJECTED);
      return;
    }
    switch (admission) {
      case Permit now -> granted(now);
      case QueueEntry later -> {
        queue(later);
        if (dispatcher.held().isFull(later.heldBytes())) {
          connection.refused(RequestFailure.memoryFull(later.retryAfterSeconds()), Event.REJECTED);
        }
      }
      case ThrottleDecision.NoRoom _ -> {
        // It waits once it is known not to be a health check.
      }
    }
  }

  private void queue(QueueEntry later) {
    queued = new ConnectionWait(live.spec(), later);
    first.enter(later);
    connection.waits();
    timer.within(queued.untilCheck(connection.passedNanos()));
  }

  private void timeOut() {
    var wait = queued;
    if (wait != null) {
      var timeout = wait.timeout(connection.passedNanos());
      if (timeout == null) {
        timer.within(wait.untilCheck(connection.passedNanos()));
      } else {
        connection.refused(RequestFailure.timedOut(timeout,
            dispatcher.seams().starts().of(live).why()), Event.WAITED_TOO_LONG);
      }
    } else if (dial != null) {
      failed(dial.timedOut());
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
    connection.on(Event.GRANTED);
  }

  @Override
  public void rejected(Rejection reason) {
    leaveQueue();
    connection.refused(dispatcher.seams().starts().failure(reason), Event.REJECTED);
  }

  private void leaveQueue() {
    timer.cancel();
    first.leaveQueue();
    queued = null;
  }

  /** Connects to the pod of the permit, and returns where that is. */
  Destination dial() {
    var to = Objects.requireNonNull(permit).destination();
    timer.within(CONNECT_TIMEOUT_NANOS);
    dial = dispatcher.pools().open(to, this);
    return to;
  }

  @Override
  public void connected(Channel opened) {
    timer.cancel();
    dial = null;
    connection.connected(opened);
  }

  @Override
  public void failed(UpstreamFailure why) {
    timer.cancel();
    dial = null;
    connection.podFailed(why, Event.NOT_CONNECTED);
  }

  /**
   * Waits for another pod.
   *
   * @param connected whether the failed one has accepted the connection
   * @return whether there may be one
   */
  boolean tryAnother(boolean connected) {
    var failed = Objects.requireNonNull(permit);
    permit = null;
    var again = failed.retry(this, connected);
    if (again != null) {
      queue(again);
    }
    return again != null;
  }

  /** Gives up its place in the queue, and what is being dialled. Idempotent. */
  void giveUp() {
    var wait = queued;
    leaveQueue();
    if (wait != null) {
      wait.entry().giveUp();
    }
    if (dial != null) {
      dial.cancel();
      dial = null;
    }
  }

  /**
   * Releases the permit.
   *
   * @param pod is closed first, since a pod may run the connection until then; null if there is none
   */
  void release(Ending how, @Nullable TcpSide pod) {
    var given = permit;
    permit = null;
    if (given == null) {
      return;
    }
    if (pod == null) {
      given.release(how);
    } else {
      pod.channel().closeFuture().addListener(_ -> given.release(how));
    }
  }
}
