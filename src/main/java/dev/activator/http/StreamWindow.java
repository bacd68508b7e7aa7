package dev.activator.http;

import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;

/**
 * The window for what the peer sends on one stream. It doubles while the data is passed on as it
 * comes, so that a peer that is far away can send as fast as the network allows. It has at most four
 * times the bytes that were passed on already, or what it began with, and what is more than that comes
 * from a {@link WindowBudget}. While windows may not grow, as memory is tight, a larger one is not
 * opened again beyond what it began with.
 *
 * <p><b>Threads.</b> The connection's loop.
 */
public final class StreamWindow {
  private static final int MAX_BYTES = 1 << 20;

  private final int initial;
  private int bytes;
  private int passed;

  /** @param initial the window that the stream begins with */
  public StreamWindow(int initial) {
    this.initial = initial;
    this.bytes = initial;
  }

  /** Call when bytes of data were passed on in the call that brought them. */
  public void passedOn(AbstractHttp2Handler<?> connection, Http2Stream stream, int more)
      throws Http2Exception {
    if (stream.state() == Http2Stream.State.CLOSED) {
      // The stream was ended in the call that passed the data on.
      return;
    }
    if (!connection.mayWiden()) {
      narrow(connection, stream);
      return;
    }
    // Limited, so that it does not overflow.
    passed = Math.min(passed + more, bytes);
    if (passed >= bytes / 2 && bytes < MAX_BYTES && connection.windows().take(bytes)) {
      connection.connection().local().flowController().incrementWindowSize(stream, bytes);
      bytes *= 2;
      passed = 0;
    }
  }

  private void narrow(AbstractHttp2Handler<?> connection, Http2Stream stream)
      throws Http2Exception {
    passed = 0;
    if (bytes > initial) {
      connection.connection().local().flowController().incrementWindowSize(stream, initial - bytes);
      close(connection);
    }
  }

  /** Call when the stream is closed. */
  public void close(AbstractHttp2Handler<?> connection) {
    connection.windows().giveBack(bytes - initial);
    bytes = initial;
  }
}
