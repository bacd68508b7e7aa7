package dev.activator.proxy.policy;

/**
 * Headers that are meant for the next connection only.
 *
 * <p>
 * <b>Source.</b> RFC 9110, section 7.6.1; {@code hopHeaders} in Go's {@code reverseproxy.go}.
 */
final class HopByHop {
  private static final Field[] ALWAYS = {Field.CONNECTION, Field.PROXY_CONNECTION, Field.KEEP_ALIVE,
      Field.PROXY_AUTHENTICATE, Field.PROXY_AUTHORIZATION, Field.TE, Field.TRANSFER_ENCODING,
      Field.UPGRADE};

  private HopByHop() {}

  /**
   * Removes them, and those that {@code Connection} names; all but {@code Trailer}. A length is never
   * removed, whoever names it: the body that follows would be read as another message.
   */
  static void removeFrom(Fields fields) {
    if (fields.has(Field.CONNECTION)) {
      Tokens.each(fields.all(Field.CONNECTION), named -> {
        if (!named.equalsIgnoreCase(Field.CONTENT_LENGTH.text())) {
          fields.remove(named);
        }
      });
    }
    for (var field : ALWAYS) {
      fields.remove(field);
    }
  }
}
