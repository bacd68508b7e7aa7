package dev.activator.proxy.exchange;

import dev.activator.loop.Loop;
import dev.activator.proxy.codec.Http2Head;
import dev.activator.proxy.codec.NettyFields;
import dev.activator.proxy.held.RequestBody;
import dev.activator.proxy.held.SentRequest;
import dev.activator.proxy.policy.Replay;
import dev.activator.proxy.policy.field.RequestHeaders;
import dev.activator.proxy.policy.field.Upgrade;
import dev.activator.revision.Destination;
import dev.activator.upstream.UpstreamPool.Dial;
import dev.activator.upstream.UpstreamConnection;
import dev.activator.upstream.UpstreamFailure;
import dev.activator.upstream.UpstreamListener;
import dev.activator.upstream.UpstreamPool;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Carries one request to a pod, and the response back to its exchange.
 *
 * <p>
 * <b>Threads.</b> Only its event loop may call.
 *
 * <p>
 * <b>Errors.</b> The exchange hears of them. Where the connection turns out dead and the pod cannot
 * have acted on the request, or the request may be sent twice, another takes its place without a word;
 * a request that may not is only given a pooled connection that the kernel believes alive. Where no
 * connection can be had, nothing was sent, and the exchange may try another pod.
 *
 * <p>
 * <b>Source.</b> {@code httputil.ReverseProxy} and {@code http.Transport} in Go.
 */
final class Forwarder implements UpstreamListener {
  private static final Duration CONTINUE_WAIT = Duration.ofSeconds(1);

  private final Worker worker;
  private final Exchange exchange;
  private final Response response;
  private final HttpRequest request;
  private final RequestBody body;
  private final SentRequest sent;
  private @Nullable Destination destination;
  private @Nullable Dial dial;
  private @Nullable UpstreamConnection connection;
  private @Nullable Reaching reaching;
  private Loop.@Nullable Timer continueTimer;
  /** Whether the caller sends its body once it is told to, and has not been. */
  private boolean held;
  private boolean answering;
  private boolean unflushed;

  Forwarder(Worker worker, Exchange exchange, Response response, HttpRequest request,
      RequestBody body) {
    this.worker = worker;
    this.exchange = exchange;
    this.response = response;
    this.request = request;
    this.body = body;
    this.sent = SentRequest.of(request, worker.held());
    this.held = request.headers().contains(HttpHeaderNames.EXPECT);
  }

  void start(Destination to) {
    destination = to;
    var pool = pool(to);
    address(pool.authority());
    var open = sent.mayBeRisked() ? pool.reuse(this) : pool.reuseChecked(this);
    if (open != null) {
      send(open);
    } else {
      dial(pool);
    }
  }

  private void address(String authority) {
    var route = exchange.route();
    var fields = new NettyFields(request.headers());
    if (route.service() == null && route.revision().readinessProbe() != null) {
      RequestHeaders.addressContainer(fields);
    } else {
      RequestHeaders.address(fields, authority, route.service());
    }
  }

  /** Each dial has its own time to reach the pod. */
  private void dial(UpstreamPool pool) {
    stopReaching();
    dial = pool.dial(this);
    reaching = new Reaching(worker.loop(), this,
        () -> exchange.undelivered(UpstreamFailure.TIMED_OUT.text()));
  }

  @Override
  public void connected(UpstreamConnection opened) {
    dial = null;
    stopReaching();
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
        sent.add(part);
        to.write(part);
        unflushed = true;
      }
    }
  }

  void flush() {
    var to = connection;
    if (unflushed && to != null) {
      unflushed = false;
      to.flush();
      if (to.headIsOut()) {
        sent.headIsOut();
      }
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
    sent.forget();
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

  @Override
  public void interim(HttpResponse head) {
    answering = true;
    sent.forget();
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
      held = false;
      stopWaiting();
      exchange.bodyMoved();
      flush();
    }
  }

  private void stopWaiting() {
    if (continueTimer != null) {
      continueTimer.cancel();
      continueTimer = null;
    }
  }

  @Override
  public void head(HttpResponse head) {
    answering = true;
    sent.forget();
    response.head(head);
  }

  @Override
  public void switched(HttpResponse head) {
    answering = true;
    sent.forget();
    held = false;
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
    var used = connection;
    connection = null;
    dial = null;
    if (used == null) {
      stopReaching();
      exchange.undelivered(failure.text());
      return;
    }
    switch (answering ? Replay.NOT_AT_ALL : sent.replay(used, failure)) {
      case ON_ANOTHER_CONNECTION -> sendAgain();
      case AT_ANOTHER_POD -> {
        takeBack();
        stopReaching();
        exchange.undelivered(failure.text());
      }
      case NOT_AT_ALL -> exchange.upstreamFailed(failure.text());
    }
  }

  private void sendAgain() {
    takeBack();
    if (destination != null) {
      dial(pool(destination));
    }
  }

  /** As if nothing had been sent: who has not been told to go on waits for that still. */
  private void takeBack() {
    stopWaiting();
    sent.giveBack(body);
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
