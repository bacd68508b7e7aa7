package dev.activator.proxy.codec;

import io.netty.handler.codec.http2.Http2Error;
import java.util.LinkedHashSet;

/**
 * Remembers which streams were reset here. A frame for such a stream may have been on its way, and
 * is ignored; a frame for any other closed stream is an error.
 *
 * <p><b>Source.</b> RFC 9113, sections 5.1 and 5.1.1.
 */
public final class ClosedHttp2Streams {
  /** The number of streams that are remembered; no more may be open at once. */
  private static final int REMEMBERED = 1_000;

  private final LinkedHashSet<Integer> reset = new LinkedHashSet<>();
  private int created;

  public void created() {
    created++;
  }

  public void reset(int id) {
    reset.add(id);
    if (reset.size() > REMEMBERED) {
      reset.removeFirst();
    }
  }

  public boolean wasReset(int id) {
    return reset.contains(id);
  }

  /** @param lastId the id of the newest stream */
  public Http2Error errorOfUnknown(int lastId) {
    // Callers number their streams 1, 3, 5. If they skipped none, the unknown stream was open once.
    return created == (lastId + 1) >>> 1 ? Http2Error.STREAM_CLOSED : Http2Error.PROTOCOL_ERROR;
  }
}
