package dev.activator.http;

import io.netty.handler.codec.http.TooLongHttpHeaderException;

/**
 * Limits the fields of a message, trailers included, as each takes many times its bytes in memory.
 *
 * <p><b>Errors.</b> {@link TooLongHttpHeaderException}.
 */
public final class HeaderCountLimit {
  /** In HTTP/2, for head and trailers each. Envoy's limit is 100. */
  public static final int OF_REQUESTS = 1_000;
  /** In HTTP/2, for head and trailers each. */
  public static final int OF_RESPONSES = 10_000;

  private final int max;
  private int fields;

  public HeaderCountLimit(int max) {
    this.max = max;
  }

  public void reset() {
    fields = 0;
  }

  public int fields() {
    return fields;
  }

  public void add() {
    fields++;
    if (fields > max) {
      throw new TooLongHttpHeaderException("more than " + max + " fields");
    }
  }
}
