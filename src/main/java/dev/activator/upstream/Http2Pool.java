package dev.activator.upstream;

import dev.activator.http.WindowBudget;
import dev.activator.loop.NettyLoop;
import dev.activator.loop.ResettableTimer;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.tls.DialTarget;
import dev.activator.upstream.Dialer.DialBackoff;
import io.netty.channel.Channel;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslHandler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP/2 connections of one loop to one pod. A new connection is opened only when all others
 * are full. Of a pod that may choose HTTP/1 there are two pools: one for the requests that it may
 * choose for, and one for those that need HTTP/2, such as gRPC, whose connections offer nothing
 * else.
 *
 * <p><b>Source.</b> {@code http2.Transport} in Go, except that a connection is used only after the
 * pod's SETTINGS, so that no request exceeds the stream limit.
 */
final class Http2Pool implements UpstreamPool {
  private static final Logger log = LoggerFactory.getLogger(Http2Pool.class);
  private static final Duration SETTINGS_WAIT = Duration.ofSeconds(10);
  /** The number of streams that a new connection is expected to allow. */
  private static final int EXPECTED_ROOM = 100;
  /**
   * The number of connections that a pod may close before its SETTINGS and still count as speaking
   * HTTP/2, because it may be shutting down.
   */
  private static final int MAX_CLOSED = 3;
  /**
   * How long it is remembered that a pod does not speak HTTP/2; at least {@link #SETTINGS_WAIT}.
   */
  private static final Duration REFUSAL_KEPT = Duration.ofSeconds(10);

  private final DialTarget target;
  private final boolean negotiates;
  private final LoopConnectionPools pools;
  private final Dialer dialer;
  private final Duration idleTimeout;
  private final String authority;
  private final List<Http2PodSession> sessions = new ArrayList<>(1);
  private final Deque<WaitingRequest> waiting = new ArrayDeque<>();
  private final List<OpeningSession> openings = new ArrayList<>(1);
  private final ResettableTimer expiry;
  private boolean serving;
  /** Whether SETTINGS were received on any connection. */
  private boolean settingsReceived;
  private int closedInARow;
  private @Nullable UpstreamFailure refusal;
  private long refusedNanos;

  /**
   * @param negotiates whether the pod may choose HTTP/1 in the handshake; then the connection is one
   *     of its HTTP/1 pool
   */
  Http2Pool(DialTarget target, boolean negotiates, LoopConnectionPools pools, Dialer dialer,
      Duration idleTimeout) {
    this.target = target;
    this.negotiates = negotiates;
    this.pools = pools;
    this.dialer = dialer;
    this.idleTimeout = idleTimeout;
    this.authority = target.destination().toString();
    this.expiry = new ResettableTimer(dialer.loop(), this::expire);
  }

  boolean negotiates() {
    return negotiates;
  }

  @Override
  public String authority() {
    return authority;
  }

  @Override
  public @Nullable UpstreamConnection reuse(UpstreamListener listener) {
    var session = first();
    return session == null ? null : session.lend(listener);
  }

  /** The first connection with room for a stream; null if there is none. */
  @Nullable Http2PodSession first() {
    for (var session : sessions) {
      if (session.hasRoom()) {
        return session;
      }
    }
    return negotiates ? null : pools.chosenHttp2(target);
  }

  @Override
  public @Nullable UpstreamConnection reuseChecked(UpstreamListener listener) {
    var session = first();
    while (session != null && !session.hasRecentlyRead()
        && !pools.deadConnections().isUsable(session.channel())) {
      session.retire();
      session = first();
    }
    return session == null ? null : session.lend(listener);
  }

  @Override
  public Dial dial(UpstreamListener listener) {
    var one = new WaitingRequest(listener);
    if (isEmpty()) {
      pools.remember(target, this);
    }
    waiting.add(one);
    openEnough();
    return one;
  }

  @Override
  public @Nullable UpstreamFailure refusal() {
    if (refusal != null && nanoTime() - refusedNanos >= REFUSAL_KEPT.toNanos()) {
      refusal = null;
    }
    return refusal;
  }

  private void refused(UpstreamFailure why) {
    if (!negotiates && refusal() == null) {
      refusal = why;
      refusedNanos = nanoTime();
      dialer.loop().schedule(REFUSAL_KEPT, this::forgetIfEmpty);
    }
  }

  void logMalformed(Throwable cause) {
    pools.logMalformed(target, cause.getMessage());
  }

  String scheme() {
    return target.overTls() ? "https" : "http";
  }

  void openEnough() {
    // A pod that allows no streams for now would allow none on another connection either.
    if (waiting.size() > openings.size() * EXPECTED_ROOM
        && sessions.stream().noneMatch(Http2PodSession::allowsNoStreams)) {
      var one = new OpeningSession();
      openings.add(one);
      one.dial = dialer.dial(target, one);
    }
  }

  void opened(Http2PodSession session) {
    for (var one : List.copyOf(openings)) {
      if (one.session == session) {
        one.settingsTimer.cancel();
        openings.remove(one);
      }
    }
    sessions.add(session);
    settingsReceived = true;
    refusal = null;
    closedInARow = 0;
    log.debug("Opened an HTTP/2 connection to {}", target.destination());
    serveWaiting();
    openEnough();
  }

  /**
   * Gives streams to waiting requests, without recursion: a request that ends when it is connected
   * returns its stream, which calls this again.
   */
  void serveWaiting() {
    if (serving) {
      return;
    }
    if (!waiting.isEmpty()) {
      serving = true;
      try {
        for (var session = first(); session != null && !waiting.isEmpty(); session = first()) {
          var listener = waiting.remove().listener;
          listener.connected(session.lend(listener));
        }
      } finally {
        serving = false;
      }
    }
    if (anyIsIdle()) {
      arm();
    }
  }

  private boolean anyIsIdle() {
    for (var session : sessions) {
      if (session.isIdle()) {
        return true;
      }
    }
    return false;
  }

  void retired(Http2PodSession session) {
    sessions.remove(session);
    openEnough();
    forgetIfEmpty();
  }

  /** Gives a connection on which the pod has chosen HTTP/1 to the request that waits longest. */
  private void choseHttp1(OpeningSession opening, Channel channel) {
    openings.remove(opening);
    var http1 = pools.http1(target);
    var waited = List.copyOf(waiting);
    waiting.clear();
    var first = waited.isEmpty() ? null : waited.getFirst();
    http1.addChosen(channel, first == null ? null : first.listener);
    for (var one : waited) {
      // The failure of one request may cancel another.
      if (one != first && !one.cancelled) {
        one.inHttp1 = http1.dial(one.listener);
      }
    }
    forgetIfEmpty();
  }

  private void failed(OpeningSession opening, UpstreamFailure failure) {
    if (!openings.remove(opening)) {
      // The request was cancelled.
      return;
    }
    var failed = List.copyOf(waiting);
    waiting.clear();
    for (var one : failed) {
      // The failure of one request may cancel another.
      if (!one.cancelled) {
        one.listener.failed(failure);
      }
    }
    forgetIfEmpty();
  }

  private void forgetIfEmpty() {
    if (isEmpty() && refusal() == null) {
      pools.forget(target, this);
    }
  }

  private boolean isEmpty() {
    return sessions.isEmpty() && openings.isEmpty() && waiting.isEmpty();
  }

  NettyLoop loop() {
    return dialer.loop();
  }

  WindowBudget windows() {
    return pools.windows();
  }

  long nanoTime() {
    return dialer.loop().nanoTime();
  }

  void closeIdle() {
    for (var session : List.copyOf(sessions)) {
      if (session.isIdle()) {
        session.close();
      }
    }
  }

  private void arm() {
    if (pools.isClosed()) {
      closeIdle();
    } else if (!expiry.isSet()) {
      expiry.within(idleTimeout);
    }
  }

  private void expire() {
    for (var session : List.copyOf(sessions)) {
      long left = idleTimeout.toNanos() - (nanoTime() - session.idleSince());
      if (session.isIdle() && left > 0) {
        expiry.within(left);
      } else if (session.isIdle()) {
        session.close();
      }
    }
  }

  void watch(Http2PodSession session) {
    pools.deadConnections().add(session);
  }

  private final class WaitingRequest implements Dial {
    private final UpstreamListener listener;
    private boolean cancelled;
    /** Null unless the pod has chosen HTTP/1. */
    private @Nullable Dial inHttp1;

    private WaitingRequest(UpstreamListener listener) {
      this.listener = listener;
    }

    /** Does not close a connection that is being opened: the next request can use it. */
    @Override
    public void cancel() {
      cancelled = true;
      waiting.remove(this);
      if (inHttp1 != null) {
        inHttp1.cancel();
      }
    }

    @Override
    public long graceNanos() {
      if (inHttp1 != null) {
        return inHttp1.graceNanos();
      }
      long longest = 0;
      for (var one : openings) {
        longest = Math.max(longest, one.graceNanos());
      }
      return longest;
    }

    /**
     * Counts a pod as refusing HTTP/2 only if it has closed connections. A silent pod may just be
     * slow.
     */
    @Override
    public UpstreamFailure timedOut() {
      if (inHttp1 != null) {
        return inHttp1.timedOut();
      }
      boolean refuses = !settingsReceived && closedInARow > 0;
      if (refuses) {
        refused(UpstreamFailure.NO_SETTINGS);
      }
      if (waiting.remove(this) && waiting.isEmpty()) {
        List.copyOf(openings).forEach(OpeningSession::cancel);
      }
      return refuses ? UpstreamFailure.NO_SETTINGS : UpstreamFailure.TIMED_OUT;
    }
  }

  private final class OpeningSession implements Dialer.DialListener {
    private final ResettableTimer settingsTimer = new ResettableTimer(dialer.loop(),
        () -> over(UpstreamFailure.MALFORMED));
    private @Nullable Dial dial;
    private @Nullable Http2PodSession session;
    private long connectedNanos;

    /** How much longer to wait. After a slow handshake, the pod's SETTINGS may be slow, too. */
    long graceNanos() {
      if (session != null) {
        return target.overTls() ? DialBackoff.graceNanos(nanoTime() - connectedNanos) : 0;
      }
      return dial == null ? 0 : dial.graceNanos();
    }

    void cancel() {
      var unready = session;
      if (unready != null) {
        session = null;
        settingsTimer.cancel();
        unready.close();
        cancelled();
      } else if (dial != null) {
        dial.cancel();
      }
    }

    /** A queue-proxy that does not support ALPN gets HTTP/2 anyway. */
    @Override
    public String[] protocols() {
      return negotiates
          ? new String[]{ApplicationProtocolNames.HTTP_2, ApplicationProtocolNames.HTTP_1_1}
          : new String[]{ApplicationProtocolNames.HTTP_2};
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // A channel that fails to close is closed already.
    public void connected(Channel channel) {
      if (target.identity() instanceof PodIdentity.OfService && !isHttp2(channel)) {
        if (negotiates) {
          choseHttp1(this, channel);
        } else {
          channel.close();
          failed(UpstreamFailure.NO_HTTP2);
        }
        return;
      }
      var made = Http2PodSession.of(Http2Pool.this);
      session = made;
      connectedNanos = nanoTime();
      channel.closeFuture().addListener(_ -> over(UpstreamFailure.CLOSED));
      // Not before, because nothing would handle its end.
      channel.pipeline().addLast(made);
      settingsTimer.within(SETTINGS_WAIT);
    }

    private static boolean isHttp2(Channel channel) {
      return ApplicationProtocolNames.HTTP_2
          .equals(channel.pipeline().get(SslHandler.class).engine().getApplicationProtocol());
    }

    private void over(UpstreamFailure why) {
      var unready = session;
      if (unready == null || unready.isReady()) {
        return;
      }
      session = null;
      settingsTimer.cancel();
      if (unready.isMalformed()) {
        failed(UpstreamFailure.NO_HTTP2);
      } else if (settingsReceived) {
        failed(why);
      } else if (why == UpstreamFailure.CLOSED && ++closedInARow < MAX_CLOSED) {
        openings.remove(this);
        openEnough();
        forgetIfEmpty();
      } else {
        closedInARow = 0;
        failed(UpstreamFailure.NO_SETTINGS);
      }
      unready.close();
    }

    @Override
    public void failed(UpstreamFailure failure) {
      boolean refuses = failure == UpstreamFailure.NO_HTTP2
          || failure == UpstreamFailure.NO_SETTINGS;
      if (refuses && !settingsReceived) {
        refused(failure);
      }
      Http2Pool.this.failed(this, failure);
    }

    @Override
    public void cancelled() {
      openings.remove(this);
      forgetIfEmpty();
    }
  }
}
