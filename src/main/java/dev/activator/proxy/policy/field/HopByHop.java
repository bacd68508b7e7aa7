package dev.activator.proxy.policy.field;

import java.util.TreeSet;

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

  /** To remove one costs as much as there are fields: more are removed in one go. */
  private static final int FEW = 8;

  private HopByHop() {}

  /**
   * Removes them, and those that {@code Connection} names; all but {@code Trailer}. A length is never
   * removed, whoever names it: the body that follows would be read as another message.
   */
  static void removeFrom(Fields fields) {
    if (fields.has(Field.CONNECTION)) {
      removeNamed(fields);
    }
    for (var field : ALWAYS) {
      fields.remove(field);
    }
  }

  private static void removeNamed(Fields fields) {
    var options = fields.all(Field.CONNECTION);
    if (options.size() == 1 && options.getFirst().equalsIgnoreCase(Field.KEEP_ALIVE.text())) {
      return;
    }
    var named = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    Tokens.each(options, named::add);
    named.remove(Field.CONTENT_LENGTH.text());
    if (named.size() > FEW) {
      fields.removeAll(named);
    } else {
      named.forEach(fields::remove);
    }
  }
}
