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

  /**
   * The head of the response. After a 101, both bodies are bytes of another protocol until the
   * connection ends.
   */
  void head(HttpResponse head);

  /**
   * A part of the body, which the listener must release. A {@code LastHttpContent} ends the
   * response.
   */
  void content(HttpContent content);

  /** The pod has ended its side of a tunnel, and may still read. */
  default void podEnded() {}

  /** All parts of one read have been passed on, so the listener should flush now. */
  void readComplete();

  /** The connection has become writable, or has become unwritable. */
  void writabilityChanged();

  /** No connection could be made, or it ended before the response did. */
  void failed(UpstreamFailure failure);
}
