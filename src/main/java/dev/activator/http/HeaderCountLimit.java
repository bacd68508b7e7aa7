package dev.activator.http;

import io.netty.handler.codec.http.TooLongHttpHeaderException;

/**
 * Limits the number of fields of a message, including trailers, because each field takes much more
 * memory than its bytes.
 *
 * <p><b>Errors.</b> {@link TooLongHttpHeaderException}.
 */
public final class HeaderCountLimit {
  /**
   * The limit for requests. HTTP/2 applies it to head and trailers separately. Envoy's limit is
   * 100.
   */
  public static final int OF_REQUESTS = 1_000;
  /** The limit for responses. HTTP/2 applies it to head and trailers separately. */
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
