package dev.activator.embedded.api.http;

import dev.activator.embedded.api.store.ApiException;
import dev.activator.embedded.api.store.Json;
import java.util.Base64;
import tools.jackson.core.JacksonException;

/**
 * Where the next page of a list begins. Clients only hand it back.
 *
 * <p>
 * <b>Source.</b> {@code storage/continue.go} in Kubernetes' apiserver.
 *
 * @param revision at which the list is read; -1 for whatever is newest
 * @param start the first key that may be on the page, relative to the list's prefix
 */
public record ContinueToken(long revision, String start) {
  private static final String VERSION = "meta.k8s.io/v1";
  /** The page after an object begins with the smallest key that follows its own. */
  private static final String AFTER = "\u0000";

  static ContinueToken after(long revision, String key) {
    return new ContinueToken(revision, key + AFTER);
  }

  /** Reads what {@link #text} wrote; anything else is a bad request. */
  public static ContinueToken parse(String text) {
    try {
      var token = Json.MAPPER.readTree(Base64.getUrlDecoder().decode(text));
      long revision = token.path("rv").longValue(0);
      String start = token.path("start").stringValue("");
      if (!token.path("v").stringValue("").equals(VERSION) || revision == 0 || start.isEmpty()) {
        throw ApiException.badRequest("invalid continue token: it is not one of this server's");
      }
      return new ContinueToken(revision, start);
    } catch (JacksonException | IllegalArgumentException unreadable) {
      throw ApiException.badRequest("invalid continue token: it cannot be read");
    }
  }

  /** As clients carry it: opaque to them. */
  public String text() {
    var token = Json.object().put("v", VERSION).put("rv", revision).put("start", start);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(Json.bytes(token));
  }
}
