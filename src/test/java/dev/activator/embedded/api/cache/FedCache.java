package dev.activator.embedded.api.cache;

import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.cache.CacheWatcher.Request.Bookmarks;
import dev.activator.embedded.api.policy.FieldSelector;
import dev.activator.embedded.api.policy.LabelSelector;
import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/** A cache in virtual time, with a store whose revisions the test chooses. */
public final class FedCache {
  public final VirtualLoop loop = new VirtualLoop();
  public final WatchCache cache;
  private final Map<String, ObjectNode> stored = new HashMap<>();
  private long newest;

  FedCache(WatchCacheSettings settings) {
    this.cache = new WatchCache(CONFIG_MAP, loop, settings, () -> newest);
  }

  /** Lists objects, each with the revision it has. */
  public FedCache listed(long revision, ObjectNode... objects) {
    stored.clear();
    Stream.of(objects).forEach(object -> stored.put(ObjectMeta.key(object), object));
    newest = revision;
    cache.replace(List.of(objects), revision);
    return this;
  }

  /** Writes an object with the label {@code l}. */
  public FedCache put(long revision, String name, String label) {
    var object = object(revision, name, label);
    var previous = stored.put(ObjectMeta.key(object), object);
    newest = revision;
    cache.apply(
        new ApiStoreChange(
            previous == null ? ApiStoreChange.Type.ADDED : ApiStoreChange.Type.MODIFIED,
            CONFIG_MAP, object, revision));
    return this;
  }

  public FedCache delete(long revision, String name) {
    var previous = stored.remove("default/" + name);
    var last = previous.deepCopy();
    ObjectMeta.of(last).put("resourceVersion", Long.toString(revision));
    newest = revision;
    cache.apply(new ApiStoreChange(ApiStoreChange.Type.DELETED, CONFIG_MAP, last, revision));
    return this;
  }

  /** Something of another kind was written. */
  public FedCache elsewhere(long revision) {
    writtenElsewhere(revision);
    cache.progress(revision);
    return this;
  }

  /** The same, but the cache has not heard of it yet. */
  FedCache writtenElsewhere(long revision) {
    newest = revision;
    return this;
  }

  static List<WatchCacheObject> all(SortedObjects objects) {
    var all = new ArrayList<WatchCacheObject>();
    objects.from("", "").forEachRemaining(all::add);
    return all;
  }

  static ObjectNode object(long revision, String name, String label) {
    var object = Objects.labelled(name, "l", label);
    ObjectMeta.of(object).put("resourceVersion", Long.toString(revision));
    return object;
  }

  static ObjectSelection labelled(String selector) {
    return new ObjectSelection("", LabelSelector.parse(selector), FieldSelector.EVERYTHING);
  }

  static ObjectSelection fielded(String selector) {
    return new ObjectSelection("", LabelSelector.EVERYTHING, FieldSelector.parse(selector));
  }

  /** Reads, and returns what the reader is told, such as {@code @9 [default/a@7]}. */
  public FakeReader read(Freshness freshness) {
    var reader = new FakeReader(cache.read(freshness));
    loop.run();
    return reader;
  }

  CacheWatcher watch(WatchStart start, CacheWatcher.Outlet outlet) {
    return watch(start, TestValues.ALL_OBJECTS, outlet);
  }

  /** Watches for half an hour, with bookmarks. */
  CacheWatcher watchWithBookmarks(WatchStart start, CacheWatcher.Outlet outlet) {
    return watch(
        new CacheWatcher.Request(start, TestValues.ALL_OBJECTS, Bookmarks.WANTED,
            Duration.ofMinutes(30)),
        outlet);
  }

  CacheWatcher watch(WatchStart start, ObjectSelection selection, CacheWatcher.Outlet outlet) {
    return watch(
        new CacheWatcher.Request(start, selection, Bookmarks.UNWANTED, Duration.ofMinutes(30)),
        outlet);
  }

  CacheWatcher watch(CacheWatcher.Request request, CacheWatcher.Outlet outlet) {
    var watch = cache.watch(request, outlet);
    loop.run();
    return watch;
  }
}
