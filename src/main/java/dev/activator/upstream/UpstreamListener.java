package dev.activator.upstream;

import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;

/**
 * Who asked a pod something and follows the answer.
 *
 * <p>
 * <b>Threads.</b> All calls come on the connection's event loop, one at a time.
 *
 * <p>
 * <b>Errors.</b> {@link #failed} is the only one, and the last call: after it there is no
 * connection. None follows {@link UpstreamConnection#close} and {@link UpstreamConnection#release}.
 */
public interface UpstreamListener {
  /** There is a connection now, and it is this listener's until it closes or releases it. */
  void connected(UpstreamConnection connection);

  /** A 1xx response other than 101. */
  void interim(HttpResponse head);

  /** The response begins. */
  void head(HttpResponse head);

  /**
   * A 101: from here on bytes that are no HTTP go both ways, as parts of bodies that have no end but
   * the connection's.
   */
  void switched(HttpResponse head);

  /** A part of the body, the listener's to release. A {@code LastHttpContent} ends the response. */
  void content(HttpContent content);

  /** What was read at once has been handed over: a good moment to flush. */
  void readComplete();

  /** The connection takes more, or no longer does: see {@link UpstreamConnection#isWritable}. */
  void writabilityChanged();

  /** No connection could be had, or the one there was ended before the response did. */
  void failed(UpstreamFailure failure);
}
