package dev.activator.proxy;

import dev.activator.loop.Loop;
import dev.activator.proxy.policy.Replay;
import dev.activator.proxy.policy.RequestHeaders;
import dev.activator.proxy.policy.Upgrade;
import dev.activator.revision.Destination;
import dev.activator.upstream.Dial;
import dev.activator.upstream.UpstreamConnection;
import dev.activator.upstream.UpstreamFailure;
import dev.activator.upstream.UpstreamListener;
import dev.activator.upstream.UpstreamPool;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.LastHttpContent;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Carries one request to a pod, and the response back to its exchange.
 *
 * <p>
 * <b>Threads.</b> Only its event loop may call.
 *
 * <p>
 * <b>Errors.</b> The exchange hears of them. A pooled connection that turns out dead is replaced by a
 * new one without a word, if the request may be sent twice; a request that may not is only given a
 * pooled connection that the kernel believes alive. Where no connection can be had, nothing was sent,
 * and the exchange may try another pod.
 *
 * <p>
 * <b>Source.</b> {@code httputil.ReverseProxy} and {@code http.Transport} in Go.
 */
final class Forwarder implements UpstreamListener {
  private static final Duration CONTINUE_WAIT = Duration.ofSeconds(1);
  /** So often a pod may refuse a request unseen, and be asked again on another connection. */
  private static final int MAX_REFUSALS = 3;

  private final Worker worker;
  private final Exchange exchange;
  private final Response response;
  private final HttpRequest request;
  private final RequestBody body;
  private final boolean replayable;
  private @Nullable Destination destination;
  private @Nullable Dial dial;
  private @Nullable UpstreamConnection connection;
  private @Nullable Reaching reaching;
  private Loop.@Nullable Timer continueTimer;
  private boolean held;
  private boolean answering;
  private boolean sentWhole;
  private boolean unflushed;
  private final @Nullable SentBody sent;
  private int refusals;

  Forwarder(Worker worker, Exchange exchange, Response response, HttpRequest request,
      RequestBody body) {
    this.worker = worker;
    this.exchange = exchange;
    this.response = response;
    this.request = request;
    this.body = body;
    this.replayable = Replay.allows(request.method().name(),
        new NettyFields(request.headers()));
    this.held = request.headers().contains(HttpHeaderNames.EXPECT);
    this.sent = isHttp2() ? new SentBody(worker.held()) : null;
  }

  void start(Destination to) {
    destination = to;
    var pool = pool(to);
    RequestHeaders.address(new NettyFields(request.headers()), pool.authority(),
        exchange.route().service());
    var open = replayable ? pool.reuse(this) : pool.reuseChecked(this);
    if (open != null) {
      send(open);
    } else {
      dial = pool.dial(this);
      reaching = new Reaching(worker.loop(), this,
          () -> exchange.undelivered(UpstreamFailure.TIMED_OUT.text()));
    }
  }

  @Override
  public void connected(UpstreamConnection opened) {
    dial = null;
    connection = opened;
    if (exchange.inTime()) {
      send(opened);
      flush();
    }
  }

  private void send(UpstreamConnection open) {
    connection = open;
    open.write(request);
    unflushed = true;
    if (held) {
      continueTimer = worker.loop().schedule(CONTINUE_WAIT, this::waitedEnough);
    } else {
      exchange.bodyMoved();
    }
  }

  /** Whether it has no connection yet. */
  boolean isDialing() {
    return dial != null;
  }

  /** Passes on what there is of the body, as far as the pod takes it. */
  void pump() {
    var to = connection;
    if (to == null || held) {
      return;
    }
    // A write can end the exchange, and with it the connection's being ours.
    while (connection != null && to.isWritable() && !body.isEmpty()) {
      var part = body.poll();
      if (part != null) {
        sentWhole = part instanceof LastHttpContent;
        if (sent != null) {
          sent.add(part);
        }
        to.write(part);
        unflushed = true;
      }
    }
  }

  void flush() {
    if (unflushed && connection != null) {
      unflushed = false;
      connection.flush();
    }
  }

  /** Reads on, or waits: as the caller takes the response. */
  void follow(boolean writable) {
    if (connection != null && writable) {
      connection.resumeReading();
    } else if (connection != null) {
      connection.pauseReading();
    }
  }

  /** The exchange is over: the connection goes back if it is done, and is closed if not. */
  void stop() {
    stopWaiting();
    stopReaching();
    forgetSent();
    if (dial != null) {
      dial.cancel();
    }
    if (connection != null) {
      connection.release();
    }
    dial = null;
    connection = null;
  }

  private void stopReaching() {
    if (reaching != null) {
      reaching.end();
      reaching = null;
    }
  }

  private void forgetSent() {
    if (sent != null) {
      sent.forget();
    }
  }

  @Override
  public void interim(HttpResponse head) {
    answering = true;
    forgetSent();
    if (!head.status().equals(HttpResponseStatus.CONTINUE)) {
      response.interim(head);
    } else if (held) {
      response.interim(head);
      sendBody();
    }
  }

  private void waitedEnough() {
    if (held) {
      if (body.isEmpty()) {
        response.askForBody();
      }
      sendBody();
    }
  }

  private void sendBody() {
    if (held) {
      stopWaiting();
      exchange.bodyMoved();
      flush();
    }
  }

  private void stopWaiting() {
    held = false;
    if (continueTimer != null) {
      continueTimer.cancel();
      continueTimer = null;
    }
  }

  @Override
  public void head(HttpResponse head) {
    answering = true;
    forgetSent();
    response.head(head);
  }

  @Override
  public void switched(HttpResponse head) {
    answering = true;
    stopWaiting();
    if (Upgrade.agrees(new NettyFields(request.headers()), new NettyFields(head.headers()))) {
      response.switched(head);
    } else {
      exchange.upstreamFailed("protocol switched without being asked to");
    }
  }

  @Override
  public void content(HttpContent content) {
    exchange.respond(content);
  }

  @Override
  public void readComplete() {
    response.flush();
  }

  @Override
  public void writabilityChanged() {
    // "No longer" is said from within a write, where Netty's encoder must not be called again.
    if (connection != null && connection.isWritable()) {
      exchange.bodyMoved();
      flush();
    }
  }

  @Override
  public void failed(UpstreamFailure failure) {
    boolean unsent = connection == null;
    boolean again = !unsent && !answering && (isStale(failure) || isRefused(failure));
    connection = null;
    dial = null;
    if (again && destination != null) {
      sendAgain(destination);
    } else if (unsent) {
      stopReaching();
      exchange.undelivered(failure.text());
    } else {
      exchange.upstreamFailed(failure.text());
    }
  }

  /** The connection was dead before the request was sent, and nobody had noticed. */
  private boolean isStale(UpstreamFailure failure) {
    return replayable && failure != UpstreamFailure.CANCELLED && connection != null
        && connection.reused();
  }

  /** The pod says that it has not looked at the request, so any may be sent again. */
  private boolean isRefused(UpstreamFailure failure) {
    return failure == UpstreamFailure.NOT_TAKEN && sent != null && sent.isWhole()
        && refusals++ < MAX_REFUSALS;
  }

  private void sendAgain(Destination to) {
    stopWaiting();
    if (sent != null) {
      sent.giveBack(body);
    } else if (sentWhole) {
      // It has no body: all there was to send is its end.
      body.add(LastHttpContent.EMPTY_LAST_CONTENT);
    }
    dial = pool(to).dial(this);
  }

  /** A pod is asked in the version that its caller speaks. */
  private UpstreamPool pool(Destination to) {
    var revision = exchange.route().revision().id();
    return isHttp2() ? worker.pools().toHttp2(to, revision) : worker.pools().to(to, revision);
  }

  private boolean isHttp2() {
    return request.protocolVersion().majorVersion() == Http2Head.VERSION.majorVersion();
  }
}
