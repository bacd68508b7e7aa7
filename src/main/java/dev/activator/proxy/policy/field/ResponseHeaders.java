package dev.activator.proxy.policy.field;

/**
 * What a response's headers become on the way to the caller.
 *
 * <p>
 * <b>Source.</b> {@code httputil.ReverseProxy} in Go; RFC 9112, section 6.3.
 */
public final class ResponseHeaders {
  /** How the end of a body is told. */
  public enum End {
    /** There is none, or its length is known. */
    LENGTH,
    /** By an empty chunk. */
    CHUNK,
    /** By the end of the connection, for callers that know no chunks. */
    CLOSE,
    /** By the end of the stream. */
    STREAM
  }

  private ResponseHeaders() {}

  /**
   * Rewrites them in place.
   *
   * @param caller what the caller speaks
   * @param bodyless whether the response never has a body: it answers a HEAD, or is a 204 or 304
   */
  public static End rewrite(Fields fields, Version caller, boolean bodyless) {
    HopByHop.removeFrom(fields);
    if (caller == Version.HTTP_2) {
      return End.STREAM;
    }
    if (bodyless || fields.has(Field.CONTENT_LENGTH)) {
      fields.remove(Field.TRAILER);
      return End.LENGTH;
    }
    if (caller == Version.HTTP_1_0) {
      fields.remove(Field.TRAILER);
      return End.CLOSE;
    }
    fields.set(Field.TRANSFER_ENCODING, "chunked");
    return End.CHUNK;
  }
}
