package dev.activator.ext.tcp;

import dev.activator.ext.tcp.policy.IdleRule;
import dev.activator.ext.tcp.policy.TcpConnectionState;
import dev.activator.ext.tcp.policy.TcpConnectionState.Action;
import dev.activator.ext.tcp.policy.TcpConnectionState.End;
import dev.activator.ext.tcp.policy.TcpConnectionState.Event;
import dev.activator.ext.tcp.policy.TcpConnectionState.Phase;
import dev.activator.loop.LogLimit;
import dev.activator.loop.Loop;
import dev.activator.observability.RequestObserver.Step;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.exchange.RequestDispatcher;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.revision.LiveRevision;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.upstream.UpstreamFailure;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries one connection: holds the client's first bytes while {@link PodAcquisition} gets it a pod, and
 * passes bytes in both directions. {@link TcpConnectionState} decides.
 *
 * <p><b>Threads.</b> Confined to the loop of its client's channel.
 */
final class TcpConnection extends ObservedConnection {
  private static final Logger log = LoggerFactory.getLogger(TcpConnection.class);
  /** The statuses in meters and logs, as of an upgraded connection. */
  private static final int SERVED = 200;
  private static final int RESPONDING = 101;
  private static final int CLIENT_CLOSED = 499;

  private final LogLimit refusals;
  private final ConnectionCount count;
  private final TcpSide client;
  private final FirstBytes first;
  private final PodAcquisition acquisition;
  private TcpConnectionState state = TcpConnectionState.ACCEPTED;
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
    this.acquisition = new PodAcquisition(this, dispatcher, live, first);
    this.count = new ConnectionCount(this, dispatcher.counter().of(live));
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
    acquisition.begin();
  }

  /** The connection is no health check. */
  void begun() {
    if (state.phase() == Phase.WAITING) {
      acquisition.await();
    }
  }

  Loop loop() {
    return dispatcher.loop();
  }

  /** It is in the queue. */
  void waits() {
    queued();
    updateReading();
  }

  /** Whether one side has not read everything. */
  boolean hasUnsent() {
    return client.hasUnsent() || pod != null && pod.hasUnsent();
  }

  void idle() {
    on(Event.IDLE);
  }

  void refused(RequestFailure why, Event event) {
    refusal = why;
    on(event);
  }

  void connected(Channel opened) {
    connected();
    pod = new TcpSide(opened, this);
    opened.pipeline().addLast(pod);
    on(Event.CONNECTED);
  }

  void podFailed(UpstreamFailure why, Event event) {
    podFailure = why;
    on(event);
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
      count.clientEnded();
    } else if (of == pod) {
      podFailed(UpstreamFailure.CLOSED, Event.POD_ENDED);
    }
  }

  void gone(TcpSide side, UpstreamFailure why) {
    if (side == client) {
      on(Event.CLIENT_GONE);
    } else if (side == pod) {
      podFailed(why, Event.POD_GONE);
    }
  }

  void on(Event event) {
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
      case DIAL -> dial();
      case JOIN -> join(Objects.requireNonNull(pod));
      case TRY_ANOTHER_POD -> tryAnotherPod();
      case END_TO_POD -> Objects.requireNonNull(pod).endOutput();
      case END_TO_CLIENT -> client.endOutput();
      case RESET_CLIENT -> client.reset();
      case RESET_POD -> Objects.requireNonNull(pod).reset();
    }
  }

  private void dial() {
    var to = acquisition.dial();
    granted(to, to);
    saw(Step.FORWARDING);
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
    boolean connected = pod != null;
    abandonPod();
    pod = null;
    count.waits();
    undelivered(podFailure.text());
    if (!acquisition.tryAnother(connected)) {
      on(Event.NO_OTHER_POD);
    }
  }

  private void end(End how) {
    try {
      acquisition.giveUp();
      first.drop();
      closeSides(how);
    } finally {
      acquisition.release(ending(how), pod);
      count.end();
    }
    switch (how) {
      case CLOSED, IDLE -> ended(RequestOutcome.UPGRADED, SERVED);
      case CLIENT_GONE -> ended(RequestOutcome.CALLER_GONE, CLIENT_CLOSED);
      case REJECTED, WAITED_TOO_LONG, ERROR -> reset(Objects.requireNonNull(refusal));
      case POD_FAILED -> {
        failed(podFailure.text());
        reset(RequestFailure.badGateway(podFailure.text()));
      }
    }
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

  private void reset(RequestFailure why) {
    ended(why.outcome(), why.answer().status());
    refusals.log(now(), others -> log.info("A connection of {} to {} was reset: {}. {} others"
        + " were since the last such line", peer(), live, why.answer().body().strip(), others));
  }

  private static Ending ending(End how) {
    return switch (how) {
      case CLOSED, IDLE -> Ending.ANSWERED;
      case CLIENT_GONE -> Ending.ABANDONED;
      case POD_FAILED -> Ending.BROKEN;
      case REJECTED, WAITED_TOO_LONG, ERROR -> Ending.UNCOUNTED;
    };
  }
}
