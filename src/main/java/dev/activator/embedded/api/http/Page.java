package dev.activator.embedded.api.http;

import dev.activator.embedded.api.cache.SortedObjects.CacheSnapshot;
import dev.activator.embedded.api.cache.CachedObject;
import dev.activator.embedded.api.cache.Selection;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Some objects of a list.
 *
 * @param objects in order
 * @param revision of the state they are from
 * @param next token of the page after; empty if this is the last
 * @param remaining how many objects follow; 0 if none do or if nobody has counted
 */
public record Page(List<CachedObject> objects, long revision, String next, long remaining) {
  /** Everything in the state that is selected. */
  public static Page all(CacheSnapshot snapshot, Selection selection) {
    var objects = new ArrayList<CachedObject>();
    selection.in(snapshot.objects(), "").forEachRemaining(objects::add);
    return new Page(objects, snapshot.revision(), "", 0);
  }

  /** At most so many, beginning at a place relative to the selection's prefix. */
  public static Page of(CacheSnapshot snapshot, Selection selection, String start, long limit) {
    var rest = selection.in(snapshot.objects(), selection.prefix() + start);
    var objects = new ArrayList<CachedObject>();
    while (rest.hasNext() && objects.size() < limit) {
      objects.add(rest.next());
    }
    if (!rest.hasNext()) {
      return new Page(objects, snapshot.revision(), "", 0);
    }
    String last = objects.getLast().key().substring(selection.prefix().length());
    return new Page(objects, snapshot.revision(),
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
}
