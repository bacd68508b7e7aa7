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
  /** The most fields of a request; in HTTP/2, of its head and of its trailers. Envoy takes 100. */
  public static final int OF_REQUESTS = 1_000;
  /** The most fields of a response; in HTTP/2, of its head and of its trailers. */
  public static final int OF_RESPONSES = 10_000;

  private final int most;
  private int fields;

  /** @param most the most fields of a message */
  public FieldCount(int most) {
    this.most = most;
  }

  /** Another message begins. */
  public void reset() {
    fields = 0;
  }

  public int fields() {
    return fields;
  }

  /** The message has one more. */
  public void add() {
    fields++;
    if (fields > most) {
      throw new TooLongHttpHeaderException("more than " + most + " fields");
    }
  }
}
