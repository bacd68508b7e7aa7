package dev.activator.proxy;

import dev.activator.http.AbstractHttp2Handler;
import dev.activator.http.HeaderFieldList;
import dev.activator.http.KnownHeader;
import dev.activator.http.StreamWindow;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.exchange.Downstream;
import dev.activator.proxy.exchange.Exchange;
import dev.activator.proxy.policy.HeaderRewriter;
import dev.activator.proxy.policy.LocalResponse;
import dev.activator.proxy.policy.PodProtocol;
import dev.activator.proxy.policy.RequestFailure;
import dev.activator.proxy.policy.RequestVersion;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.concurrent.Future;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A stream of a caller's HTTP/2 connection. It writes a response without a body as one HEADERS
 * frame, as gRPC requires for failures.
 */
// A failed write ends the stream, and the session is notified of that.
@SuppressWarnings("FutureReturnValueIgnored")
final class Http2Downstream implements Downstream, AbstractHttp2Handler.StreamUser {
  private final Http2CallerSession session;
  private final Http2Stream stream;
  private final boolean head;
  /** Null if its head was too large, or once it is answered. */
  private @Nullable HttpRequest request;
  private @Nullable Exchange exchange;
  private @Nullable BodyReader reader;
  private @Nullable HttpResponse pendingHead;
  private @Nullable Future<?> lastWrite;
  /** The bytes for which a large head is counted as held; 0 for a small one. */
  int headBytes;
  private int unconsumed;
  private @Nullable StreamWindow window;
  private final boolean requestBodyless;
  private boolean requestEnded;
  private boolean over;
  private boolean bodyless;
  private boolean grpc;
  /** Response bytes that wait for the caller's window. */
  private long unread;
  private boolean taken;
  private long stalledSince;
  private long drainNanos;

  Http2Downstream(Http2CallerSession session, Http2Stream stream, @Nullable HttpRequest request,
      boolean requestEnded) {
    this.session = session;
    this.stream = stream;
    this.request = request;
    this.head = request != null && request.method().equals(HttpMethod.HEAD);
    this.requestBodyless = requestEnded;
    this.requestEnded = requestEnded;
    this.drainNanos = session.unread().drainNanos();
  }

  long checkDeadlines() {
    if (exchange != null) {
      return exchange.checkDeadlines();
    }
    if (unread == 0 || over) {
      return Long.MAX_VALUE;
    }
    long now = session.nanoTime();
    if (taken) {
      taken = false;
      stalledSince = now;
    }
    long left = drainNanos - (now - stalledSince);
    if (left <= 0) {
      session.unread().countIdle();
      abort();
      return Long.MAX_VALUE;
    }
    // Checks early enough to notice a caller that stops reading in between.
    return Math.max(1, Math.min(left, drainNanos / 4));
  }

  long unread(long bytes) {
    long more = bytes - unread;
    // A stall begins when the first bytes wait.
    taken |= more < 0 || unread == 0;
    unread = bytes;
    return more;
  }

  long unreadBytes() {
    return unread;
  }

  boolean isReset() {
    return stream.isResetSent();
  }

  void endUnread() {
    if (exchange != null) {
      exchange.endUnread();
    } else {
      abort();
    }
  }

  /** How long the caller may read nothing because of this response, while it is under way; else 0. */
  long drainNanos() {
    return exchange == null ? 0 : drainNanos;
  }

  long openNanos() {
    return exchange == null ? 0 : exchange.passedNanos();
  }

  /** Returns by how many bytes to enlarge the window now. */
  int content(HttpContent part, int windowBytes) throws Http2Exception {
    requestEnded |= part instanceof LastHttpContent;
    var to = exchange;
    if (to == null) {
      if (reader == null) {
        part.release();
      } else {
        reader.content(part);
      }
      return windowBytes;
    }
    unconsumed += windowBytes;
    to.content(part);
    to.flushUpstream();
    if (unconsumed == 0 && !requestEnded) {
      if (window == null) {
        window = new StreamWindow(Http2CallerSession.STREAM_WINDOW_BYTES);
      }
      window.passedOn(session, stream, windowBytes);
    } else if (exchange == to && unconsumed > 0 && !session.hasMemoryForBodies()) {
      to.fail(RequestFailure.memoryFull(1));
    }
    return 0;
  }

  void flushUpstream() {
    if (exchange != null) {
      exchange.flushUpstream();
    }
  }

  @Override
  public void writabilityChanged() {
    // Also called inside a write, when no longer writable; the writer checks that itself.
    if (exchange != null && isWritable()) {
      exchange.downstreamWritabilityChanged();
    }
  }

  void gone() {
    over = true;
    if (window != null) {
      window.close(session);
    }
    request = null;
    var left = exchange;
    exchange = null;
    if (left != null) {
      left.callerGone();
    }
    if (reader != null) {
      reader.closed();
    }
  }

  @Override
  public void readBody(BodyReader by) {
    reader = by;
  }

  @Override
  public Caller caller() {
    return session.caller();
  }

  @Override
  public boolean isBodyless() {
    return requestBodyless;
  }

  @Override
  public void begin(Exchange begun) {
    exchange = begun;
  }

  @Override
  public void checkAt(long dueNanos) {
    session.checkAt(dueNanos);
  }

  @Override
  public void interim(HttpResponse response) {
    if (!over) {
      write(response, false);
    }
  }

  @Override
  public void head(HttpResponse response) {
    int status = response.status().code();
    boolean empty = status == 204 || status == 205;
    bodyless = head || empty || status == 304;
    if (empty) {
      // RFC 9110, sections 8.6 and 15.3.6.
      response.headers().remove(HttpHeaderNames.CONTENT_LENGTH);
    }
    var fields = HeaderFieldList.in(response);
    grpc = status == 200 && PodProtocol.isGrpc(fields) && !fields.has(KnownHeader.CONTENT_LENGTH);
    HeaderRewriter.response(fields, RequestVersion.HTTP_2, bodyless);
    pendingHead = response;
  }

  @Override
  public void content(HttpContent content) {
    if (bodyless && content.content().isReadable()) {
      // Such a response has no body, whatever the pod sends: RFC 9110, section 6.4.1.
      write(content.replace(Unpooled.EMPTY_BUFFER));
      content.release();
    } else {
      write(content);
    }
  }

  private void write(HttpContent content) {
    boolean bare = content instanceof LastHttpContent end && end.trailingHeaders().isEmpty()
        && !content.content().isReadable();
    if (over || (!content.content().isReadable() && !(content instanceof LastHttpContent))) {
      content.release();
    } else if (pendingHead != null && bare) {
      content.release();
      writePendingHead(true);
    } else {
      writePendingHead(false);
      lastWrite = session.writeContent(stream.id(), content);
    }
  }

  @Override
  public void answer(LocalResponse answer) {
    // A gateway reads only the status of the answer, and takes a 200 as "yes".
    if (answer.status() >= 400 && request != null && !session.takesQuestions()
        && PodProtocol.isGrpc(HeaderFieldList.in(request))) {
      send(answer.forGrpc(), false);
    } else {
      send(answer, answer.hasLength());
    }
  }

  private void send(LocalResponse answer, boolean hasLength) {
    // Allocated on the heap, because direct memory may be exhausted.
    var body = Unpooled.copiedBuffer(head ? "" : answer.body(), StandardCharsets.UTF_8);
    var response = new DefaultHttpResponse(HttpVersion.HTTP_1_1,
        HttpResponseStatus.valueOf(answer.status()));
    answer.headers().forEach(response.headers()::set);
    if (hasLength) {
      response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH,
          ByteBufUtil.utf8Bytes(answer.body()));
    }
    pendingHead = response;
    content(new DefaultLastHttpContent(body));
  }

  private void writePendingHead(boolean last) {
    var response = pendingHead;
    pendingHead = null;
    if (response != null && !over) {
      write(response, last);
    }
  }

  private void write(HttpResponse response, boolean last) {
    session.writeHeaders(stream.id(),
        session.head().response(response.status().codeAsText(), response.headers()), last);
  }

  @Override
  public void abort() {
    pendingHead = null;
    exchange = null;
    request = null;
    if (!over) {
      // Parts that were written are still sent.
      session.flushNow();
      session.reset(stream, Http2Error.INTERNAL_ERROR);
    }
  }

  /**
   * Ends a gRPC response with a status: of a stream that is reset, libraries say that the activator
   * has a bug, and not that the pod is gone. A caller that does not read gets no status, because it
   * would wait behind what is not read.
   */
  @Override
  public void abort(RequestFailure failure) {
    boolean isUnread = failure.outcome() == RequestOutcome.UNREAD
        || unread > 0 && failure.answer().status() == HttpResponseStatus.GATEWAY_TIMEOUT.code();
    if (over || !grpc || isUnread) {
      abort();
    } else {
      var last = new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER);
      failure.answer().grpcTrailers().forEach(last.trailingHeaders()::set);
      write(last);
      ended();
    }
  }

  @Override
  public void drainWithin(long nanos) {
    drainNanos = nanos;
    taken = true;
    session.unread().drainWithin(nanos);
  }

  @Override
  public void ended() {
    exchange = null;
    request = null;
    stopRequest();
    session.flushSoon();
  }

  private void stopRequest() {
    if (lastWrite != null && !lastWrite.isDone()) {
      lastWrite.addListener(_ -> stopRequest());
    } else if (!requestEnded && !over) {
      session.reset(stream, Http2Error.NO_ERROR);
    }
  }

  @Override
  public void flush() {
    writePendingHead(false);
    session.flushSoon();
  }

  @Override
  public boolean isWritable() {
    return over || session.isWritable(stream);
  }

  @Override
  public boolean hasRead(long nanos) {
    // Without bytes of this response among those that wait, the caller may read another one.
    return lastWrite != null && !lastWrite.isDone() && !over && session.hasRead(stream, nanos);
  }

  @Override
  public void pauseReading() {
    // Nothing to do: without WINDOW_UPDATEs the stream's window closes.
  }

  @Override
  public void resumeReading() {
    if (unconsumed > 0) {
      int bytes = unconsumed;
      unconsumed = 0;
      session.consume(stream, bytes);
    }
  }
}
