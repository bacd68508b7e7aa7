package dev.activator.http;

import io.netty.handler.codec.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;

/**
 * The fields that are only for one connection: {@code Connection} and the like, and those that it
 * names, in the head or in the trailers. Removes them from the trailers of a chunked message.
 *
 * <p><b>Source.</b> RFC 9110, section 7.6.1.
 */
public final class HopByHopFields {
  private static final KnownHeader[] NEVER = {KnownHeader.CONNECTION, KnownHeader.PROXY_CONNECTION,
      KnownHeader.KEEP_ALIVE, KnownHeader.TE, KnownHeader.UPGRADE};

  private List<String> named = List.of();

  /** Call with each head, before its fields are rewritten. */
  public void head(HeaderFieldList fields) {
    named = fields.has(KnownHeader.TRANSFER_ENCODING) && fields.has(KnownHeader.CONNECTION)
        && !isUsual(fields)
            ? names(fields.all(KnownHeader.CONNECTION))
            : List.of();
  }

  /** Whether only keep-alive or close is named, as nearly always; no field has such a name. */
  private static boolean isUsual(HeaderFieldList fields) {
    var option = fields.first(KnownHeader.CONNECTION);
    return !fields.isRepeated(KnownHeader.CONNECTION)
        && (KnownHeader.KEEP_ALIVE.text().equalsIgnoreCase(option)
            || "close".equalsIgnoreCase(option));
  }

  private static List<String> names(List<String> values) {
    var names = new ArrayList<String>();
    HeaderFieldList.eachToken(values, names::add);
    return names;
  }

  /** Whether a list that affects the connection has more elements than are parsed. */
  public static boolean isTooLong(HeaderFieldList fields) {
    return isTooLong(fields, KnownHeader.CONNECTION) || isTooLong(fields, KnownHeader.UPGRADE)
        || isTooLong(fields, KnownHeader.TE);
  }

  private static boolean isTooLong(HeaderFieldList fields, KnownHeader list) {
    var first = fields.first(list);
    if (first == null
        || first.length() < HeaderFieldList.MAX_ELEMENTS && !fields.isRepeated(list)) {
      // There is none, or a single short one, as in nearly all messages.
      return false;
    }
    int elements = 0;
    for (var value : fields.all(list)) {
      elements++;
      for (int i = 0; i < value.length() && elements <= HeaderFieldList.MAX_ELEMENTS; i++) {
        elements += value.charAt(i) == ',' ? 1 : 0;
      }
    }
    return elements > HeaderFieldList.MAX_ELEMENTS;
  }

  public void removeFrom(HttpHeaders trailers) {
    if (!trailers.isEmpty()) {
      names(trailers.getAll(KnownHeader.CONNECTION.text())).forEach(trailers::remove);
      named.forEach(trailers::remove);
      for (var field : NEVER) {
        trailers.remove(field.text());
      }
    }
  }
}
