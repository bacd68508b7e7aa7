package dev.activator.embedded.api.cache;

import dev.activator.embedded.api.cache.CacheWatcher.Request.Bookmarks;
import dev.activator.embedded.api.policy.FieldSelector;
import dev.activator.embedded.api.policy.LabelSelector;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart.After;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;
import tools.jackson.databind.node.ObjectNode;

/** What the parts of the watch cache cost, next to what the JDK has for the same. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class WatchCacheBenchmark {
  private static final int OBJECTS = 10_000;
  private static final int WINDOW = 1_000;

  /** A window that is full, and a queue that holds the same. */
  @State(Scope.Thread)
  public static class Window {
    private final WatchEventWindow window = new WatchEventWindow(Windows.fixed(WINDOW));
    private final ArrayDeque<WatchCacheEvent> queue = new ArrayDeque<>();
    private final ConcurrentSkipListMap<Long, WatchCacheEvent> map = new ConcurrentSkipListMap<>();
    private long revision = 1;

    /** Fills all three. */
    @Setup
    public void fill() {
      for (int i = 0; i < WINDOW; i++) {
        var event = next();
        window.append(event);
        queue.add(event);
        map.put(event.revision(), event);
      }
    }

    private WatchCacheEvent next() {
      revision++;
      return new WatchCacheEvent(ApiStoreChange.Type.MODIFIED, bare(revision), null,
          SortedObjects.EMPTY,
          0);
    }
  }

  /** Ten thousand objects, and a cache of them with this many watchers that take everything. */
  @State(Scope.Thread)
  public static class Watched {
    @Param({"1", "20", "200"})
    public int watchers;

    private final VirtualLoop loop = new VirtualLoop();
    private final WatchCache cache = new WatchCache(BuiltInKinds.ENDPOINTS, loop,
        Windows.of(WINDOW), () -> 0);
    private long revision = 1;

    /** Fills the cache and begins the watches. */
    @Setup
    public void fill(Blackhole received) {
      var objects = new ArrayList<ObjectNode>();
      for (int i = 0; i < OBJECTS; i++) {
        objects.add(object(1, "o" + i));
      }
      cache.replace(objects, revision);
      for (int i = 0; i < watchers; i++) {
        var selector = i % 2 == 0 ? "" : "networking.internal.knative.dev/serviceType=Private";
        cache.watch(new CacheWatcher.Request(new After(revision),
            new ObjectSelection("", LabelSelector.parse(selector), FieldSelector.EVERYTHING),
            Bookmarks.UNWANTED, Duration.ofHours(1)), new Swallowing(received));
      }
      loop.run();
    }
  }

  /** Ten thousand objects in our map and in two of the JDK. */
  @State(Scope.Thread)
  public static class Maps {
    private SortedObjects ours = SortedObjects.EMPTY;
    private final TreeMap<String, WatchCacheObject> tree = new TreeMap<>();
    private final ConcurrentSkipListMap<String, WatchCacheObject> skipList = new ConcurrentSkipListMap<>();
    private final WatchCacheObject[] objects = new WatchCacheObject[OBJECTS];
    private int next;

    /** Fills all three. */
    @Setup
    public void fill() {
      for (int i = 0; i < OBJECTS; i++) {
        objects[i] = WatchCacheObject.of(BuiltInKinds.CONFIG_MAP, object(1, "o" + i));
        ours = ours.with(objects[i]);
        tree.put(objects[i].key(), objects[i]);
        skipList.put(objects[i].key(), objects[i]);
      }
    }

    private WatchCacheObject next() {
      next = (next + 7_919) % OBJECTS;
      return objects[next];
    }
  }

  @Benchmark
  public void append(Window window) {
    window.window.append(window.next());
  }

  @Benchmark
  public void appendToAnArrayDeque(Window window) {
    window.queue.remove();
    window.queue.add(window.next());
  }

  @Benchmark
  public void appendToASkipList(Window window) {
    var event = window.next();
    window.map.pollFirstEntry();
    window.map.put(event.revision(), event);
  }

  @Benchmark
  public void eventsSince(Window window, Blackhole out) {
    long last = window.window.end();
    for (long i = window.window.firstAfter(window.window.oldestRevision() + 900); i < last; i++) {
      out.consume(window.window.at(i));
    }
  }

  @Benchmark
  public void eventsSinceInASkipList(Window window, Blackhole out) {
    window.map.tailMap(window.map.firstKey() + 899, false).values().forEach(out::consume);
  }

  @Benchmark
  public void eventToAllWatchers(Watched watched) {
    watched.revision++;
    var object = object(watched.revision, "o" + watched.revision % OBJECTS);
    watched.cache.apply(
        new ApiStoreChange(ApiStoreChange.Type.MODIFIED, BuiltInKinds.ENDPOINTS, object,
            watched.revision));
  }

  @Benchmark
  public void put(Maps maps) {
    maps.ours = maps.ours.with(maps.next());
  }

  @Benchmark
  public void putInATreeMap(Maps maps) {
    var object = maps.next();
    maps.tree.put(object.key(), object);
  }

  @Benchmark
  public void putInASkipList(Maps maps) {
    var object = maps.next();
    maps.skipList.put(object.key(), object);
  }

  @Benchmark
  public void listAll(Maps maps, Blackhole out) {
    TestValues.ALL_OBJECTS.in(maps.ours, "").forEachRemaining(out::consume);
  }

  @Benchmark
  public void listAllOfASkipList(Maps maps, Blackhole out) {
    maps.skipList.values().forEach(out::consume);
  }

  private static WatchCacheObject bare(long revision) {
    var object = FedCache.object(revision, "o", "1");
    return WatchCacheObject.of(BuiltInKinds.CONFIG_MAP, object);
  }

  private static ObjectNode object(long revision, String name) {
    var object = FedCache.object(revision, name, "1");
    ((ObjectNode) ObjectMeta.of(object).get("labels"))
        .put("networking.internal.knative.dev/serviceType", "Private");
    return object;
  }

  /** Takes everything. */
  private record Swallowing(Blackhole received) implements CacheWatcher.Outlet {
    @Override
    public void begin(CacheWatcher watch) {
      // Nothing to prepare.
    }

    @Override
    public boolean ready() {
      return true;
    }

    @Override
    public void send(WatchMessage signal) {
      received.consume(signal);
    }

    @Override
    public void end() {
      // Nothing to close.
    }
  }
}
