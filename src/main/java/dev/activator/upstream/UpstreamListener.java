package dev.activator.upstream;

import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;

/**
 * Receives the response to one request to a pod.
 *
 * <p>
 * <b>Threads.</b> All calls come on the connection's event loop, one at a time.
 *
 * <p>
 * <b>Errors.</b> {@link #failed} is the only one, and the last call: after it there is no
 * connection. None follows {@link UpstreamConnection#close} and {@link UpstreamConnection#release}.
 */
public interface UpstreamListener {
  /** A connection was made; it is this listener's until it closes or releases it. */
  void connected(UpstreamConnection connection);

  /** A 1xx response other than 101. */
  void interim(HttpResponse head);

  /**
   * The response begins. After a 101, bytes of another protocol go both ways, as parts of bodies that
   * end with the connection.
   */
  void head(HttpResponse head);

  /** A part of the body, the listener's to release. A {@code LastHttpContent} ends the response. */
  void content(HttpContent content);

  /** Everything that was read at once has been handed over: the moment to flush. */
  void readComplete();

  /** The connection takes more, or no longer does: see {@link UpstreamConnection#isWritable}. */
  void writabilityChanged();

  /** No connection could be made, or it ended before the response did. */
  void failed(UpstreamFailure failure);
}
