package dev.activator.upstream.codec;

import io.netty.handler.codec.http.TooLongHttpHeaderException;

/**
 * How many fields one message in HTTP/1 has so far, its trailers included: a field takes many times
 * its bytes in memory, so that a limit of bytes is none.
 *
 * <p>
 * <b>Errors.</b> {@link TooLongHttpHeaderException} where there are too many.
 */
public final class FieldCount {
  /** As many as a message in HTTP/1 may have; in HTTP/2, its head and its trailers each. */
  public static final int MOST = 10_000;

  private int fields;

  /** Another message begins. */
  public void startOver() {
    fields = 0;
  }

  /** The message has one more. */
  public void oneMore() {
    fields++;
    if (fields > MOST) {
      throw new TooLongHttpHeaderException("more than " + MOST + " fields");
    }
  }
}
