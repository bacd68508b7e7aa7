package dev.activator.upstream;

import dev.activator.http.AbstractHttp2Handler;
import dev.activator.http.HeaderFieldList;
import dev.activator.http.IncomingHttp2Head;
import dev.activator.http.StreamWindow;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/** A stream of an HTTP/2 connection to a pod. A request without a body is one HEADERS frame. */
// A failed write ends the stream, and the listener is notified.
@SuppressWarnings("FutureReturnValueIgnored")
final class Http2PodStream implements UpstreamConnection, AbstractHttp2Handler.StreamUser {
  private final Http2PodSession session;
  private final boolean reused;
  private @Nullable UpstreamListener listener;
  private @Nullable HttpRequest pendingRequest;
  private @Nullable Http2Stream stream;
  private @Nullable ChannelFuture headWritten;
  private boolean paused;
  private int unconsumed;
  private @Nullable StreamWindow window;
  private boolean answered;
  private boolean toHead;
  /** Whether the response's head announced a body of which no byte has come. */
  private boolean lacksBody;
  private boolean responseEnded;
  private boolean returned;
  private boolean completes;

  Http2PodStream(Http2PodSession session, UpstreamListener listener, boolean reused) {
    this.session = session;
    this.listener = listener;
    this.reused = reused;
  }

  @Override
  public void write(HttpObject part) {
    if (part instanceof HttpRequest request) {
      pendingRequest = request;
    } else {
      content((HttpContent) part);
    }
  }

  private void content(HttpContent part) {
    boolean last = part instanceof LastHttpContent end && end.trailingHeaders().isEmpty()
        && !part.content().isReadable();
    if (pendingRequest != null) {
      begin(last);
      if (last) {
        part.release();
        return;
      }
    }
    if (stream == null) {
      part.release();
    } else {
      session.writeContent(stream.id(), part);
    }
  }

  private void begin(boolean last) {
    var request = pendingRequest;
    pendingRequest = null;
    if (request == null) {
      return;
    }
    toHead = request.method().equals(HttpMethod.HEAD);
    stream = session.begin(this, head(request), last);
    if (stream == null) {
      // Reported later: the listener is still in a call to this object.
      session.context().executor().execute(() -> closed(UpstreamFailure.NOT_PROCESSED));
    }
  }

  private Http2Headers head(HttpRequest request) {
    var host = request.headers().get(HttpHeaderNames.HOST);
    // An empty :authority is not allowed.
    return session.head().request(request.method().asciiName(), session.scheme(), request.uri(),
        host == null || host.isEmpty() ? null : host, request.headers());
  }

  @Override
  public void flush() {
    begin(false);
    session.flushSoon();
  }

  @Override
  public boolean isHttp2() {
    return true;
  }

  @Override
  public boolean isWritable() {
    return session.isWritable(stream);
  }

  @Override
  public boolean reused() {
    return reused;
  }

  @Override
  public boolean headIsOut() {
    return headWritten != null && headWritten.isSuccess();
  }

  @Override
  public void pauseReading() {
    paused = true;
  }

  @Override
  public void resumeReading() {
    paused = false;
    if (unconsumed > 0 && stream != null) {
      int bytes = unconsumed;
      unconsumed = 0;
      session.consume(stream, bytes);
    }
  }

  @Override
  public void release() {
    close();
  }

  @Override
  public void close() {
    listener = null;
    pendingRequest = null;
    if (stream == null) {
      returnStream();
    } else if (!responseEnded) {
      session.reset(stream, Http2Error.CANCEL);
    } else if (stream.state().localSideOpen()) {
      // Drops data that might wait for the window for ever; RFC 9113, section 8.1.
      session.reset(stream, Http2Error.NO_ERROR);
    } else {
      resumeReading();
    }
  }

  private void returnStream() {
    if (!returned) {
      returned = true;
      session.streamReturned();
    }
  }

  void begun(ChannelFuture written) {
    headWritten = written;
  }

  void headRead(IncomingHttp2Head incoming, boolean last) throws Http2Exception {
    if (listener == null) {
      return;
    }
    if (incoming.size() > HeaderFieldList.MAX_IN_RESPONSE) {
      throw malformed("too many fields");
    }
    if (answered) {
      trailers(incoming);
      return;
    }
    var status = incoming.responseStatus();
    if (status == null) {
      throw malformed("malformed :status");
    }
    var head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, status, incoming.fields());
    if (status.codeClass() == HttpStatusClass.INFORMATIONAL) {
      if (last) {
        throw malformed("an interim response that ends the stream");
      }
      interim(head);
      return;
    }
    lacksBody = announcesBody(status, incoming.fields());
    if (last) {
      checkBody();
    }
    answered = true;
    listener.head(head);
    if (last) {
      end(LastHttpContent.EMPTY_LAST_CONTENT);
    } else {
      completeLater();
    }
  }

  private boolean announcesBody(HttpResponseStatus status, HttpHeaders fields) {
    var length = fields.get(HttpHeaderNames.CONTENT_LENGTH);
    return length != null && !length.equals("0") && !toHead && switch (status.code()) {
      case 204, 205, 304 -> false;
      default -> true;
    };
  }

  /**
   * Checks that an announced body has come. Netty counts the bytes of a body, but accepts any
   * response without a body as if it answered a HEAD.
   */
  private void checkBody() throws Http2Exception {
    if (lacksBody) {
      throw malformed("a length without a body");
    }
  }

  private void interim(DefaultHttpResponse head) throws Http2Exception {
    if (head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
      throw malformed("101 is not allowed in HTTP/2");
    }
    if (listener != null) {
      listener.interim(head);
      completeLater();
    }
  }

  private Http2Exception malformed(String what) {
    return Http2Exception.streamError(stream == null ? 0 : stream.id(),
        Http2Error.PROTOCOL_ERROR, what);
  }

  private void trailers(IncomingHttp2Head incoming) throws Http2Exception {
    if (incoming.hasPseudoHeaders()) {
      throw malformed("pseudo-headers in trailers");
    }
    checkBody();
    // A length in trailers means nothing; RFC 9110, section 6.5.1.
    var fields = incoming.fields().remove(HttpHeaderNames.CONTENT_LENGTH)
        .remove(HttpHeaderNames.TRAILER);
    end(new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER, fields));
  }

  /** Returns by how many bytes to enlarge the window now. */
  int dataRead(ByteBuf data, int windowBytes, boolean last) throws Http2Exception {
    if (listener == null) {
      return windowBytes;
    }
    if (!answered) {
      throw malformed("a body without a head");
    }
    lacksBody &= !data.isReadable();
    if (last) {
      checkBody();
      end(new DefaultLastHttpContent(data.retain(), EmptyHttpHeaders.INSTANCE));
      return windowBytes;
    }
    if (data.isReadable()) {
      listener.content(new DefaultHttpContent(data.retain()));
      completeLater();
    }
    if (!paused) {
      if (stream != null) {
        if (window == null) {
          window = new StreamWindow(Http2PodSession.STREAM_WINDOW_BYTES);
        }
        window.passedOn(session, stream, windowBytes);
      }
      return windowBytes;
    }
    unconsumed += windowBytes;
    return 0;
  }

  private void end(LastHttpContent last) {
    responseEnded = true;
    if (listener == null) {
      ReferenceCountUtil.release(last);
    } else {
      listener.content(last);
      completeLater();
    }
  }

  private void completeLater() {
    if (!completes) {
      completes = true;
      session.completeLater(this);
    }
  }

  void readCompletes() {
    completes = false;
    if (listener != null) {
      listener.readComplete();
    }
  }

  @Override
  public void writabilityChanged() {
    if (listener != null) {
      listener.writabilityChanged();
    }
  }

  void resetRead(long error) {
    failed(UpstreamFailure.ofReset(error));
  }

  void closed(UpstreamFailure why) {
    returnStream();
    if (window != null) {
      window.close(session);
    }
    var cause = headWritten == null ? null : headWritten.cause();
    failed(
        UpstreamFailure.of(cause) == UpstreamFailure.NO_MEMORY ? UpstreamFailure.NO_MEMORY : why);
  }

  void failed(UpstreamFailure why) {
    if (completes) {
      // What came before the failure is passed on.
      readCompletes();
    }
    var former = listener;
    listener = null;
    if (former != null && !responseEnded) {
      former.failed(why);
    }
  }
}
