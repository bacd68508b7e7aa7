package dev.activator.upstream;

import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;

/**
 * Receives the response to one request.
 *
 * <p><b>Threads.</b> The connection's loop.
 *
 * <p><b>Errors.</b> {@link #failed} is the last call. None follows {@link UpstreamConnection#close}
 * or {@link UpstreamConnection#release}.
 */
public interface UpstreamListener {
  /** The listener must close or release the connection. */
  void connected(UpstreamConnection connection);

  /** A 1xx response other than 101. */
  void interim(HttpResponse head);

  /** After a 101, both bodies are another protocol's bytes until the connection ends. */
  void head(HttpResponse head);

  /** The listener must release the part. A {@code LastHttpContent} ends the response. */
  void content(HttpContent content);

  /** All that was read at once has been passed on, so this is the moment to flush. */
  void readComplete();

  /** The connection has become writable, or no longer is. */
  void writabilityChanged();

  /** No connection could be made, or it ended before the response did. */
  void failed(UpstreamFailure failure);
}
