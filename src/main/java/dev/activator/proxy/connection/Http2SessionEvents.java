package dev.activator.proxy.connection;

import dev.activator.proxy.codec.Http2Head;
import dev.activator.proxy.codec.StreamHistory;
import dev.activator.upstream.codec.Http2Endpoint;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;

/**
 * What comes on a caller's HTTP/2 connection, in the words of requests: heads, parts of bodies, the ends
 * of streams.
 *
 * <p>
 * <b>Threads.</b> Only the connection's event loop may call.
 */
final class Http2SessionEvents extends Http2EventAdapter {
  private final Http2Session session;
  private final StreamHistory history;
  private final Http2Drain drain;

  Http2SessionEvents(Http2Session session, StreamHistory history, Http2Drain drain) {
    this.session = session;
    this.history = history;
    this.drain = drain;
  }

  @Override
  public void onSettingsRead(ChannelHandlerContext on, Http2Settings settings) {
    session.opened();
  }

  @Override
  public void onHeadersRead(ChannelHandlerContext on, int id, Http2Headers headers,
      int dependency, short weight, boolean exclusive, int padding, boolean last)
      throws Http2Exception {
    onHeadersRead(on, id, headers, padding, last);
  }

  @Override
  public void onHeadersRead(ChannelHandlerContext on, int id, Http2Headers headers, int padding,
      boolean last) throws Http2Exception {
    var stream = session.connection().stream(id);
    var downstream = session.of(stream);
    if (downstream != null) {
      downstream.content(trailers(id, headers), 0);
    } else if (stream != null) {
      session.begin(stream, Http2Head.parse(id, headers), last);
    }
  }

  private static HttpContent trailers(int id, Http2Headers headers) throws Http2Exception {
    return new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER, Http2Head.trailers(id, headers));
  }

  @Override
  public int onDataRead(ChannelHandlerContext on, int id, ByteBuf data, int padding,
      boolean last) {
    var downstream = session.of(session.connection().stream(id));
    int bytes = Http2Endpoint.windowBytes(data, padding);
    if (downstream == null || (!last && !data.isReadable())) {
      return bytes;
    }
    var part = last
        ? new DefaultLastHttpContent(data.retain(), EmptyHttpHeaders.INSTANCE)
        : new DefaultHttpContent(data.retain());
    return downstream.content(part, bytes);
  }

  @Override
  public void onStreamAdded(Http2Stream stream) {
    history.created();
  }

  @Override
  public void onStreamClosed(Http2Stream stream) {
    var downstream = session.of(stream);
    if (downstream != null) {
      session.ended(downstream);
      downstream.gone();
    }
    drain.streamClosed();
  }

  @Override
  public void onPingAckRead(ChannelHandlerContext on, long data) {
    drain.answered();
  }
}
