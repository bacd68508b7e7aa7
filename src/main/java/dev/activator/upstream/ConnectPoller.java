package dev.activator.upstream;

import dev.activator.loop.NettyLoop;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.policy.RateLimit;
import dev.activator.revision.Destination;
import io.netty.channel.ChannelException;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Polls an address until it no longer refuses connections. It uses one bare socket for each
 * address, so no channel exists before the socket connects, and nothing is registered with the
 * loop. All attempts that are due are made together, once a millisecond.
 *
 * <p>Without Linux's native transport the outcome is always unknown.
 *
 * <p><b>Threads.</b> Confined to the loop.
 */
final class ConnectPoller {
  private static final long PERIOD_NANOS = 1_000_000;
  /** A host of the same cluster that is up answers within this time. */
  private static final long TIMEOUT_NANOS = 20_000_000;

  private enum State {
    CONNECTING,
    CONNECTED,
    REFUSED,
    FAILED
  }

  private final NettyLoop loop;
  private final boolean usesSockets;
  private final ResettableTimer timer;
  private final ConnectAttemptQueue<Check> attempts;
  private List<Check> connecting = new ArrayList<>();

  /** @param rate of attempts, shared by all loops */
  ConnectPoller(NettyLoop loop, RateLimit rate) {
    this.loop = loop;
    this.usesSockets = loop.transport().socket() == EpollSocketChannel.class;
    this.timer = new ResettableTimer(loop, this::run);
    this.attempts = new ConnectAttemptQueue<>(rate);
  }

  /**
   * Checks an address, and calls back once, after this has returned.
   *
   * @param pause between attempts; zero if the address is new
   * @param limit after which no other attempt begins
   * @param connected gets a connected socket, which it must close
   * @param otherwise true if the address refused connections until the limit; false if it is unknown
   *     whether a server listens
   */
  void check(Destination destination, Duration pause, Duration limit, Consumer<Socket> connected,
      Consumer<Boolean> otherwise) {
    long now = loop.nanoTime();
    var check = new Check(Dialer.addressOf(destination), pause.toNanos(), now + limit.toNanos(),
        connected, otherwise);
    if (pause.isZero()) {
      attempts.first(check, now);
    } else {
      attempts.again(check, now);
    }
    timer.within(0);
  }

  private void run() {
    var earlier = connecting;
    connecting = new ArrayList<>();
    earlier.forEach(Check::proceed);
    long now = loop.nanoTime();
    for (var next = attempts.next(now); next != null; next = attempts.next(now)) {
      next.begin();
    }
    if (!connecting.isEmpty()) {
      timer.within(PERIOD_NANOS);
    } else if (!attempts.isEmpty()) {
      timer.within(Math.max(PERIOD_NANOS, attempts.untilNextNanos(loop.nanoTime())));
    }
  }

  private final class Check {
    private final InetSocketAddress address;
    private final long pauseNanos;
    private final long endNanos;
    private final Consumer<Socket> connected;
    private final Consumer<Boolean> otherwise;
    /** Kept over attempts, because a socket that was refused can connect again. */
    private @Nullable Socket socket;
    private long begunNanos;

    Check(InetSocketAddress address, long pauseNanos, long endNanos, Consumer<Socket> connected,
        Consumer<Boolean> otherwise) {
      this.address = address;
      this.pauseNanos = pauseNanos;
      this.endNanos = endNanos;
      this.connected = connected;
      this.otherwise = otherwise;
    }

    void begin() {
      begunNanos = loop.nanoTime();
      if (socket == null && usesSockets && !address.isUnresolved()) {
        socket = open();
      }
      if (socket == null) {
        otherwise.accept(false);
      } else if (!ended(socket, connect(socket))) {
        // If the pod is on this host or near it, it has already answered.
        proceed();
      }
    }

    /** Checks whether the socket has connected: calling connect again returns the result. */
    void proceed() {
      if (socket != null && !ended(socket, connect(socket))) {
        if (loop.nanoTime() - begunNanos < TIMEOUT_NANOS) {
          connecting.add(this);
        } else {
          Dialer.closeUnused(socket);
          otherwise.accept(false);
        }
      }
    }

    private State connect(Socket with) {
      try {
        if (!with.connect(address)) {
          return State.CONNECTING;
        }
        // See NettyTransport.refusal: if no server listens, a socket may connect to itself.
        return with.localAddress().equals(with.remoteAddress()) ? State.FAILED : State.CONNECTED;
      } catch (IOException e) {
        return UpstreamFailure.of(e) == UpstreamFailure.REFUSED ? State.REFUSED : State.FAILED;
      }
    }

    /** Returns whether the attempt has ended; false while the socket connects. */
    private boolean ended(Socket with, State state) {
      switch (state) {
        case CONNECTING -> {
          return false;
        }
        case CONNECTED -> connected.accept(with);
        case REFUSED -> refused(with);
        case FAILED -> {
          Dialer.closeUnused(with);
          otherwise.accept(false);
        }
      }
      return true;
    }

    private void refused(Socket with) {
      long next = begunNanos + pauseNanos;
      if (next - endNanos < 0) {
        attempts.again(this, next);
      } else {
        Dialer.closeUnused(with);
        otherwise.accept(true);
      }
    }
  }

  private static @Nullable Socket open() {
    try {
      return Socket.newSocketStream();
    } catch (ChannelException e) {
      // The dial that follows will report the failure.
      return null;
    }
  }
}
