package dev.activator.upstream.codec;

import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpUtil;

/**
 * Makes room for the trailers of a message that can have some. Netty's decoders ask for it with each
 * last part of a body, and only bodies of chunks have trailers.
 *
 * <p>
 * <b>Threads.</b> Only the event loop of its decoder may call.
 */
public final class Trailers implements HttpHeadersFactory {
  private boolean possible;

  /** What is asked for belongs to this message from now on. */
  public void of(HttpMessage message) {
    possible = HttpUtil.isTransferEncodingChunked(message);
  }

  @Override
  public HttpHeaders newHeaders() {
    return possible
        ? DefaultHttpHeadersFactory.trailersFactory().newHeaders()
        : EmptyHttpHeaders.INSTANCE;
  }

  @Override
  public HttpHeaders newEmptyHeaders() {
    return newHeaders();
  }
}
