package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.WatchCacheObject;
import dev.activator.embedded.api.cache.ObjectSelection;
import dev.activator.embedded.api.cache.SortedObjects.CacheSnapshot;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.Json;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import tools.jackson.core.JacksonException;

/**
 * One page of a list.
 *
 * @param next the token of the next page; empty for the last page
 * @param remaining the number of objects on later pages; 0 if there are none, or they were not
 *     counted
 */
public record ListPage(List<WatchCacheObject> objects, long revision, String next, long remaining) {
  public static ListPage all(CacheSnapshot snapshot, ObjectSelection selection) {
    var objects = new ArrayList<WatchCacheObject>();
    selection.in(snapshot.objects(), "").forEachRemaining(objects::add);
    return new ListPage(objects, snapshot.revision(), "", 0);
  }

  public static ListPage of(CacheSnapshot snapshot, ObjectSelection selection, String start,
      long limit) {
    var rest = selection.in(snapshot.objects(), selection.prefix() + start);
    var objects = new ArrayList<WatchCacheObject>();
    while (rest.hasNext() && objects.size() < limit) {
      objects.add(rest.next());
    }
    if (!rest.hasNext()) {
      return new ListPage(objects, snapshot.revision(), "", 0);
    }
    String last = objects.getLast().key().substring(selection.prefix().length());
    return new ListPage(objects, snapshot.revision(),
        ContinueToken.after(snapshot.revision(), last).text(),
        selection.selective() ? 0 : count(rest));
  }

  private static long count(Iterator<?> rest) {
    long count = 0;
    while (rest.hasNext()) {
      rest.next();
      count++;
    }
    return count;
  }

  /**
   * A continue token: it says where the next page begins.
   *
   * <p><b>Source.</b> {@code storage/continue.go} in Kubernetes' apiserver.
   *
   * @param revision -1 for the newest revision
   * @param start the key of the first object, without the list's prefix
   */
  record ContinueToken(long revision, String start) {
    private static final String VERSION = "meta.k8s.io/v1";
    /** A suffix that makes the smallest key that follows a key. */
    private static final String AFTER = "\u0000";

    static ContinueToken after(long revision, String key) {
      return new ContinueToken(revision, key + AFTER);
    }

    static ContinueToken parse(String text) {
      try {
        var token = Json.MAPPER.readTree(Base64.getUrlDecoder().decode(text));
        long revision = token.path("rv").longValue(0);
        String start = token.path("start").stringValue("");
        if (!token.path("v").stringValue("").equals(VERSION) || revision == 0 || start.isEmpty()) {
          throw StatusException
              .badRequest("invalid continue token: it is not one of this server's");
        }
        return new ContinueToken(revision, start);
      } catch (JacksonException | IllegalArgumentException e) {
        throw StatusException.badRequest("invalid continue token: it cannot be read");
      }
    }

    String text() {
      var token = Json.object().put("v", VERSION).put("rv", revision).put("start", start);
      return Base64.getUrlEncoder().withoutPadding().encodeToString(Json.bytes(token));
    }
  }
}
