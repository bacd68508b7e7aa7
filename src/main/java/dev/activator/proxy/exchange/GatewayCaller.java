package dev.activator.proxy.exchange;

import dev.activator.http.HeaderFieldList;
import dev.activator.loop.Loop;
import dev.activator.loop.ResettableTimer;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A gateway with a question about a request that it sends itself, as the caller of the request's exchange.
 * It gets an answer, but no response.
 *
 * <p><b>Threads.</b> The dispatcher's loop.
 */
public abstract class GatewayCaller implements Downstream {
  /**
   * Headers that are not copied to the original request: those of the gateway's connection, those of
   * the body, which is not sent here, and those that would choose a revision.
   */
  private static final Set<String> NOT_COPIED = Set.of("host", "connection", "keep-alive",
      "proxy-connection", "te", "trailer", "transfer-encoding", "content-length", "upgrade",
      "expect", "http2-settings", "knative-serving-revision", "knative-serving-namespace");

  protected final RequestDispatcher dispatcher;
  private final Caller gateway;
  private final ResettableTimer timer;
  /** The bytes for which a large head is counted as held; 0 for a small one. */
  private int headBytes;
  private @Nullable Exchange exchange;

  protected GatewayCaller(RequestDispatcher dispatcher, Caller gateway) {
    this.dispatcher = dispatcher;
    this.gateway = gateway;
    this.timer = new ResettableTimer(dispatcher.loop(), this::checkDeadlines);
  }

  /**
   * The request that the gateway describes; null if it is malformed.
   *
   * @param host with the port if given
   * @param target path and query
   */
  public static @Nullable HttpRequest original(String method, String host, String target,
      Iterable<Map.Entry<String, String>> headers) {
    try {
      var http = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.valueOf(method), target,
          HeaderFieldList.CHECKED);
      for (var header : headers) {
        if (!NOT_COPIED.contains(header.getKey().toLowerCase(Locale.ROOT))) {
          http.headers().add(HeaderFieldList.checked(new AsciiString(header.getKey())),
              header.getValue());
        }
      }
      http.headers().set("Host", host);
      return http;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /**
   * Begins the exchange of the original request.
   *
   * @param by the dispatcher, with what delivers the request
   */
  public void admit(HttpRequest original, RequestDispatcher by) {
    headBytes = dispatcher.holdLargeHead(original, Integer.MAX_VALUE);
    by.answerGateway(original, this);
  }

  /** The gateway wants no answer any more. Has no effect after the end of the exchange. */
  public void left() {
    var open = exchange;
    ended();
    if (open != null) {
      open.callerGone();
    }
  }

  protected Loop loop() {
    return dispatcher.loop();
  }

  /** Null before the exchange begins, and after its end. */
  protected @Nullable Exchange exchange() {
    return exchange;
  }

  private void checkDeadlines() {
    long left = exchange == null ? Long.MAX_VALUE : exchange.checkDeadlines();
    if (left != Long.MAX_VALUE && exchange != null) {
      timer.within(left);
    }
  }

  @Override
  public Caller caller() {
    return gateway;
  }

  @Override
  public void begin(Exchange begun) {
    exchange = begun;
  }

  @Override
  public void checkAt(long dueNanos) {
    timer.at(dueNanos);
  }

  @Override
  public void ended() {
    exchange = null;
    timer.cancel();
    dispatcher.releaseHead(headBytes);
    headBytes = 0;
  }

  @Override
  public void interim(HttpResponse head) {
    throw new IllegalStateException("nothing is forwarded here");
  }

  @Override
  public void head(HttpResponse head) {
    throw new IllegalStateException("nothing is forwarded here");
  }

  @Override
  public void content(HttpContent content) {
    throw new IllegalStateException("nothing is forwarded here");
  }

  @Override
  public void drainWithin(long nanos) {}

  @Override
  public void flush() {}

  @Override
  public boolean isWritable() {
    return true;
  }

  @Override
  public void pauseReading() {}

  @Override
  public void resumeReading() {}
}
