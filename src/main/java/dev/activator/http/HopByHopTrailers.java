package dev.activator.http;

import io.netty.handler.codec.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;

/**
 * Removes from the trailers of a chunked message what is only for one connection: {@code Connection}
 * and the like, and the fields that it names, in the head or in the trailers.
 *
 * <p><b>Source.</b> RFC 9110, section 7.6.1.
 */
public final class HopByHopTrailers {
  private static final KnownHeader[] NEVER = {KnownHeader.CONNECTION, KnownHeader.PROXY_CONNECTION,
      KnownHeader.KEEP_ALIVE, KnownHeader.TE, KnownHeader.UPGRADE};

  private List<String> named = List.of();

  /** Call with each head, before its fields are rewritten. */
  public void head(HeaderMap fields) {
    named = fields.has(KnownHeader.TRANSFER_ENCODING) && fields.has(KnownHeader.CONNECTION)
        && !isUsual(fields)
            ? names(fields.all(KnownHeader.CONNECTION))
            : List.of();
  }

  /** Whether only keep-alive or close is named, as nearly always; no field has such a name. */
  private static boolean isUsual(HeaderMap fields) {
    var option = fields.first(KnownHeader.CONNECTION);
    return !fields.isRepeated(KnownHeader.CONNECTION)
        && (KnownHeader.KEEP_ALIVE.text().equalsIgnoreCase(option)
            || "close".equalsIgnoreCase(option));
  }

  private static List<String> names(List<String> values) {
    var names = new ArrayList<String>();
    HeaderMap.eachToken(values, names::add);
    return names;
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
