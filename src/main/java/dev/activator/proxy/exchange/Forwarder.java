package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.http.KnownHeader;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.policy.FramingCheck;
import dev.activator.proxy.policy.HeaderRewriter;
import dev.activator.proxy.policy.PodProtocol;
import dev.activator.proxy.policy.ReplayDecision;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.UpgradeNegotiation;
import dev.activator.revision.PodTransport;
import dev.activator.revision.PortProtocol;
import dev.activator.throttle.ThrottleDecision.Ending;
import dev.activator.throttle.ThrottleDecision.Permit;
import dev.activator.upstream.UpstreamConnection;
import dev.activator.upstream.UpstreamFailure;
import dev.activator.upstream.UpstreamListener;
import dev.activator.upstream.UpstreamPool;
import dev.activator.upstream.UpstreamPool.Dial;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends a request to a pod, and the pod's response to the exchange. Keeps what was sent of the body
 * for a replay until the head is flushed; if the request is idempotent or in HTTP/2, until the pod
 * answers.
 *
 * <p><b>Errors.</b> {@link ReplayDecision} decides whether a failed request is sent again, on
 * another connection or to another pod. A request that is not idempotent only uses a pooled
 * connection that the kernel reports as open. If connecting fails, nothing was sent, and another
 * pod may be tried.
 *
 * <p><b>Source.</b> {@code httputil.ReverseProxy} and {@code http.Transport} in Go; RFC 9110,
 * section 9.2.2; RFC 9113, section 8.7.
 */
final class Forwarder implements UpstreamListener {
  private static final Logger log = LoggerFactory.getLogger(Forwarder.class);
  private static final int MAX_RETRIES = 5;
  /** The maximum number of retries without a connection; each may take a second. */
  private static final int MAX_CONNECT_RETRIES = 16;
  /** Limits the time to connect: connecting to a pod whose node is gone does not fail by itself. */
  private static final long CONNECT_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long CONTINUE_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int RETRY_AFTER_SECONDS = 1;
  /** The interim responses that a pod may send at once; one more is allowed for each second. */
  static final int MAX_INTERIM_RESPONSES = 100;
  /** A pod that has read more than this has probably acted on the request. */
  private static final int MAX_REPLAYED_BYTES = 64 << 10;
  private final Exchange exchange;
  private final Permit permit;
  private final PodTransport transport;
  private final PortProtocol protocol;
  /** Whether the pod gets the request in HTTP/2; unknown until it has chosen. */
  private boolean http2;
  private final boolean idempotent;
  private @Nullable Dial dial;
  private @Nullable UpstreamConnection connection;
  private boolean awaitsContinue;
  /** How the request ends for the permit; null when the permit is given back. */
  private @Nullable Ending ending = Ending.ANSWERED;
  private int interims;
  private long firstInterimNanos;
  private boolean unflushed;
  private int replays;
  /** What was sent of the body; null while that is nothing, or only an empty end. */
  private @Nullable RequestBuffer sent;
  private boolean sentEnd;
  /** Whether all that was sent is kept. */
  private boolean keepsSent = true;

  Forwarder(Exchange exchange, Permit permit) {
    this.exchange = exchange;
    var fields = exchange.fields();
    this.permit = permit;
    this.transport = permit.transport();
    this.protocol = PodProtocol.of(exchange.isHttp2(), exchange.servingSpec().hasQueueProxy(),
        transport.protocol(), fields);
    this.http2 = protocol == PortProtocol.H2C;
    this.idempotent = ReplayDecision.isIdempotent(exchange.method(), fields);
    this.awaitsContinue = fields.has(KnownHeader.EXPECT);
    exchange.podReached(http2, exchange.dispatcher.pools().isSecure(transport.identity()));
  }

  void start() {
    if (isTooLate()) {
      return;
    }
    var pool = pool();
    var service = exchange.service();
    var fields = exchange.fields();
    if (service == null && !exchange.servingSpec().hasQueueProxy()) {
      HeaderRewriter.addressContainer(fields);
    } else {
      HeaderRewriter.address(fields, pool.authority(), service);
    }
    if (protocol == PortProtocol.HTTP1 && exchange.isHttp2()) {
      frame();
    }
    boolean mayBeDead = idempotent && protocol == PortProtocol.HTTP1
        && !FramingCheck.hasBody(fields);
    var open = mayBeDead ? pool.reuse(this) : pool.reuseChecked(this);
    if (open != null) {
      send(open);
    } else {
      dial(pool);
    }
  }

  private UpstreamPool pool() {
    return exchange.dispatcher.pools().to(permit.destination(), exchange.serving(),
        transport.identity(), protocol);
  }

  /** Ends the request if its caller's deadline is over. */
  private boolean isTooLate() {
    boolean late = exchange.callerNanosLeft() <= 0;
    if (late) {
      exchange.timedOut(RequestOutcome.CALLER_DEADLINE);
    }
    return late;
  }

  private void dial(UpstreamPool pool) {
    if (isTooLate()) {
      return;
    }
    var refusal = pool.refusal();
    if (refusal != null && isFinal(refusal)) {
      broken(refusal);
      return;
    }
    exchange.limitStep(CONNECT_TIMEOUT_NANOS);
    dial = pool.dial(this);
  }

  @Override
  public void connected(UpstreamConnection opened) {
    dial = null;
    connection = opened;
    exchange.deadlines.stepDone();
    exchange.connected();
    if (!isTooLate()) {
      send(opened);
      flush();
    }
  }

  private void send(UpstreamConnection open) {
    connection = open;
    if (protocol == PortProtocol.NEGOTIATED) {
      http2 = open.isHttp2();
      exchange.podChose(http2);
      if (!http2 && exchange.isHttp2()) {
        frame();
      }
    }
    open.write(exchange.request());
    unflushed = true;
    if (awaitsContinue) {
      exchange.limitStep(CONTINUE_TIMEOUT_NANOS);
    }
    exchange.transferBody();
  }

  /** Frames the body for HTTP/1. */
  private void frame() {
    HeaderRewriter.frame(exchange.fields(), exchange.method(), exchange.downstream.isBodyless());
  }

  /**
   * Whether a part can be sent now. An empty part needs no window: some pods open no window before
   * they have the end of the body.
   */
  boolean takes(HttpContent part) {
    return connection != null && !awaitsContinue
        && (!part.content().isReadable() || connection.isWritable());
  }

  /** The write can fail and end the exchange. */
  void send(HttpContent part) {
    if (connection != null) {
      keep(part);
      connection.write(part);
      unflushed = true;
    }
  }

  private void keep(HttpContent part) {
    if (part == LastHttpContent.EMPTY_LAST_CONTENT) {
      sentEnd = keepsSent;
    } else if (keepsSent) {
      var all = sent == null ? new RequestBuffer(exchange.dispatcher.held()) : sent;
      sent = all;
      if (!all.addCopy(part, MAX_REPLAYED_BYTES)) {
        forget();
      }
    }
  }

  private void forget() {
    keepsSent = false;
    if (sent != null) {
      sent.clear();
      sent = null;
    }
  }

  /** Puts what was sent before what is not sent yet. */
  private void putBack() {
    var unsent = exchange.body();
    if (sentEnd) {
      unsent.putBack(LastHttpContent.EMPTY_LAST_CONTENT);
      sentEnd = false;
    }
    if (sent != null) {
      unsent.putBackAll(sent);
      sent = null;
    }
  }

  void sendBody() {
    if (awaitsContinue && connection != null && exchange.holdsBody()) {
      // The caller does not wait for a 100, which some pods never send.
      awaitsContinue = false;
      exchange.deadlines.stepDone();
    }
    while (exchange.holdsBody() && exchange.body().peek() instanceof HttpContent part
        && takes(part)) {
      exchange.body().poll();
      send(part);
    }
    if (connection != null && exchange.holdsBody()) {
      // The pod does not read as fast as the caller sends.
      exchange.body().compact();
    }
  }

  /** Sends all remaining bytes, because the caller has ended a tunnel. */
  void sendLast() {
    while (connection != null && exchange.holdsBody()
        && exchange.body().poll() instanceof HttpContent part) {
      send(part);
    }
    flush();
  }

  void flush() {
    var to = connection;
    if (unflushed && to != null) {
      unflushed = false;
      to.flush();
      if (to.headIsOut()) {
        if (idempotent || http2) {
          if (sent != null) {
            sent.compact();
          }
        } else {
          forget();
        }
      }
    }
  }

  boolean hasUnsent() {
    return exchange.holdsBody() || (connection != null && connection.hasUnsent());
  }

  boolean isPodWithdrawn() {
    return permit.isWithdrawn();
  }

  void setReading(boolean writable) {
    if (connection != null && writable) {
      connection.resumeReading();
    } else if (connection != null) {
      connection.pauseReading();
    }
  }

  void stepTimedOut() {
    long grace = dial == null ? 0 : dial.graceNanos();
    if (grace > 0) {
      exchange.limitStep(grace);
    } else if (dial != null) {
      var missing = dial.timedOut();
      dial = null;
      notConnected(missing);
    } else if (awaitsContinue) {
      // The pod has not sent a 100 in time and gets the body without it.
      exchange.downstream.interim(
          new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
      exchange.downstream.flush();
      continueWithBody();
    }
  }

  private void continueWithBody() {
    awaitsContinue = false;
    exchange.deadlines.stepDone();
    exchange.transferBody();
    flush();
  }

  void abandoned() {
    ending = Ending.ABANDONED;
  }

  void stop() {
    try {
      forget();
      leavePod();
    } finally {
      if (ending != null) {
        permit.release(ending);
      }
    }
  }

  private void leavePod() {
    var dialled = dial;
    var used = connection;
    dial = null;
    connection = null;
    if (dialled != null) {
      dialled.cancel();
    }
    if (used != null && (http2 || exchange.servingSpec().keepsConnections())) {
      used.release();
    } else if (used != null) {
      used.close();
    }
  }

  @Override
  public void interim(HttpResponse head) {
    forget();
    HeaderRewriter.interim(HeaderFieldList.in(head));
    if (isOneInterimTooMany()) {
      ending = Ending.UNCOUNTED;
      fail("too many interim responses");
    } else if (!head.status().equals(HttpResponseStatus.CONTINUE)) {
      exchange.interim(head);
    } else if (awaitsContinue) {
      // Another one says nothing, and some clients fail on a 100 that they do not expect.
      exchange.interim(head);
      continueWithBody();
    }
  }

  private boolean isOneInterimTooMany() {
    long now = exchange.now();
    if (interims == 0) {
      firstInterimNanos = now;
    }
    interims++;
    return interims > MAX_INTERIM_RESPONSES
        + TimeUnit.NANOSECONDS.toSeconds(now - firstInterimNanos);
  }

  @Override
  public void head(HttpResponse head) {
    forget();
    boolean awaited = awaitsContinue;
    awaitsContinue = false;
    if (head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)
        && !UpgradeNegotiation.agrees(exchange.fields(), HeaderFieldList.in(head))) {
      ending = Ending.BROKEN;
      fail("switched to a protocol that was not requested");
      return;
    }
    exchange.head(head);
    if (awaited) {
      // A pod that answers without a 100 may still read the body.
      exchange.transferBody();
      flush();
    }
  }

  @Override
  public void content(HttpContent content) {
    exchange.respond(content);
  }

  @Override
  public void podEnded() {
    exchange.closeIfSilent();
    exchange.downstream.endOutput();
  }

  @Override
  public void readComplete() {
    exchange.downstream.flush();
  }

  @Override
  public void writabilityChanged() {
    // Also called inside a write, when no longer writable: Netty's encoder must not be called then.
    if (connection != null && connection.isWritable()) {
      exchange.transferBody();
      flush();
    }
  }

  @Override
  public void failed(UpstreamFailure failure) {
    var used = connection;
    connection = null;
    dial = null;
    if (failure == UpstreamFailure.NO_MEMORY) {
      exchange.failed(failure.text());
      exchange.fail(RequestFailure.memoryFull(RETRY_AFTER_SECONDS));
      return;
    }
    if (used == null) {
      notConnected(failure);
      return;
    }
    if (failure == UpstreamFailure.CANCELLED && isTooLate()) {
      // A gRPC server has no other way to say that the deadline is over.
      return;
    }
    var replay = replay(used, failure);
    if (replay == ReplayDecision.NOT_AT_ALL) {
      broken(failure);
      return;
    }
    exchange.deadlines.stepDone();
    putBack();
    if (replay == ReplayDecision.ON_ANOTHER_CONNECTION) {
      dial(pool());
    } else {
      undelivered(failure);
    }
  }

  private void notConnected(UpstreamFailure why) {
    exchange.deadlines.stepDone();
    if (isFinal(why)) {
      broken(why);
    } else {
      undelivered(why);
    }
  }

  /** Whether every pod would fail like this one: all pods of a revision run the same program. */
  private boolean isFinal(UpstreamFailure why) {
    return why == UpstreamFailure.NO_HTTP2
        || why == UpstreamFailure.NO_SETTINGS
            && transport.protocol() != PortProtocol.H2C;
  }

  private void undelivered(UpstreamFailure why) {
    boolean connected = !why.isBeforeConnection();
    if (exchange.retries() >= (connected ? MAX_RETRIES : MAX_CONNECT_RETRIES)) {
      broken(why);
      return;
    }
    if (!exchange.mayWait()) {
      ending = Ending.BROKEN;
      exchange.failed(why.text());
      exchange.answerInstead();
      return;
    }
    ending = null;
    var again = permit.retry(exchange, connected);
    if (again == null) {
      fail(why.text());
    } else {
      log.debug("A request of {} could not be delivered to {}: {}", exchange.servingSpec().id(),
          permit.destination(), why.text());
      exchange.queueAgain(why.text(), again);
    }
  }

  private void broken(UpstreamFailure why) {
    ending = switch (why) {
      // Not a sign of overload: the pod would always answer this way.
      case NO_HTTP1, NO_HTTP2, NO_SETTINGS, MALFORMED -> Ending.UNCOUNTED;
      default -> Ending.BROKEN;
    };
    fail(why.text());
  }

  private void fail(String kind) {
    log.debug("A request of {} failed at {}: {}", exchange.servingSpec().id(),
        permit.destination(), kind);
    exchange.failed(kind);
    exchange.fail(kind.equals(UpstreamFailure.UNRESPONSIVE.text())
        ? RequestFailure.unresponsive(kind)
        : RequestFailure.badGateway(kind));
  }

  private ReplayDecision replay(UpstreamConnection used, UpstreamFailure failure) {
    if (failure == UpstreamFailure.MALFORMED || failure == UpstreamFailure.NO_HTTP1) {
      return ReplayDecision.NOT_AT_ALL; // The pod may have acted on the request.
    }
    if (failure == UpstreamFailure.CONNECTION_ERROR) {
      return ReplayDecision.NOT_AT_ALL; // It would end another connection, and its requests.
    }
    boolean unseen = failure == UpstreamFailure.NOT_PROCESSED || !used.headIsOut();
    boolean stale = used.reused() && !failure.isResetOfStream();
    return new ReplayDecision.Loss(unseen, stale, idempotent, keepsSent, replays++).replay();
  }
}
