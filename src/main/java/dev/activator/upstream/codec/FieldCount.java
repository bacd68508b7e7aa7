package dev.activator.upstream.codec;

import io.netty.handler.codec.http.TooLongHttpHeaderException;

/**
 * Counts the fields of an HTTP/1 message, trailers included. A field takes many times its bytes in
 * memory, so a limit of bytes is not enough.
 *
 * <p>
 * <b>Errors.</b> {@link TooLongHttpHeaderException} if there are too many.
 */
public final class FieldCount {
  /** The most fields of an HTTP/1 message; in HTTP/2, of its head and of its trailers. */
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
