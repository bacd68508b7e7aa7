package dev.activator.kube.reflector;

import dev.activator.kube.decode.ListWatchParser.Page;
import dev.activator.kube.decode.ListWatchParser.WatchEvent;
import dev.activator.kube.informer.VersionedObject;
import dev.activator.testing.VirtualLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * An API without one: objects are texts, and lists, watches and what goes wrong with them happen when
 * told. Lists and watches are answered at once unless it is down or refuses them.
 */
final class FakeListerWatcher implements ListerWatcher<String> {
  private final VirtualLoop loop;
  private final Map<String, VersionedObject<String>> objects = new TreeMap<>();
  /** All watches that were asked for. */
  final List<FakeWatch> watches = new ArrayList<>();
  /** When each list was asked for while no watch was open, in nanoseconds. */
  final List<Long> lists = new ArrayList<>();
  /** Lists that were asked for while a watch was open. */
  int audits;
  private long version = 10;
  private boolean down;
  private boolean silent;
  private boolean stuck;
  /** Those that are not answered. */
  final List<CompletableFuture<?>> unanswered = new ArrayList<>();
  private @Nullable Exception listFailure;
  private @Nullable KubernetesApiException refusal;

  FakeListerWatcher(VirtualLoop loop) {
    this.loop = loop;
  }

  FakeWatch last() {
    return watches.getLast();
  }

  private boolean isWatched() {
    return !watches.isEmpty() && last().open;
  }

  void put(String key) {
    put(key, "u");
  }

  void put(String key, String uid) {
    version++;
    var now = new VersionedObject<>(key, uid, String.valueOf(version), key + "@" + version);
    objects.put(key, now);
    if (!silent && isWatched()) {
      last().tells(new WatchEvent.Put<>(now));
    }
  }

  void remove(String key) {
    version++;
    var last = objects.remove(key);
    if (!silent && last != null && isWatched()) {
      last().tells(new WatchEvent.Removed<>(new VersionedObject<>(key, last.uid(),
          String.valueOf(version), last.object())));
    }
  }

  /** From now on no watch tells anything, though it looks open. */
  void losesEvents() {
    silent = true;
  }

  void tellsAgain() {
    silent = false;
  }

  void goesDown() {
    down = true;
    if (isWatched()) {
      last().ends(new IOException("down"));
    }
  }

  void comesBack() {
    down = false;
  }

  /** From now on lists are answered, and each watch with this. */
  void refusesWatches(int code) {
    refusesWatches(new KubernetesApiException(code, Duration.ZERO));
  }

  void refusesWatches(KubernetesApiException answer) {
    refusal = answer;
    if (isWatched()) {
      last().ends(refusal);
    }
  }

  void letsWatchesIn() {
    refusal = null;
  }

  /** From now on, or no longer, there is no fresh list, though watches go on. */
  void failsLists(boolean fails) {
    listFailure = fails ? new IOException("down") : null;
  }

  /** From now on lists are answered with this. */
  void refusesLists(KubernetesApiException answer) {
    listFailure = answer;
  }

  /** From now on, or no longer, lists are not answered. */
  void answersNoLists(boolean now) {
    stuck = now;
  }

  Map<String, String> truth() {
    var truth = new HashMap<String, String>();
    objects.forEach((key, object) -> truth.put(key, object.resourceVersion()));
    return truth;
  }

  @Override
  public CompletableFuture<Page<String>> page(String next) {
    return unpaged();
  }

  @Override
  public CompletableFuture<Page<String>> unpaged() {
    if (isWatched()) {
      audits++;
    } else {
      lists.add(loop.elapsed().toNanos());
    }
    if (stuck) {
      var never = new CompletableFuture<Page<String>>();
      unanswered.add(never);
      return never;
    }
    return down || listFailure != null
        ? CompletableFuture.failedFuture(down ? new IOException("down") : listFailure)
        : CompletableFuture.completedFuture(
            new Page<>(List.copyOf(objects.values()), String.valueOf(version), ""));
  }

  @Override
  public FakeWatch watch(String resourceVersion, Watcher<String> watcher) {
    var watch = new FakeWatch(resourceVersion, watcher);
    watches.add(watch);
    if (down) {
      watcher.ended(new IOException("down"));
    } else if (refusal != null) {
      watcher.ended(refusal);
    } else {
      watch.open = true;
      watcher.opened();
    }
    return watch;
  }

  /** A watch that was asked for. */
  static final class FakeWatch implements Watch {
    final String from;
    private final Watcher<String> watcher;
    boolean open;
    boolean closed;
    /** How often the next events were asked for. */
    int readOn;

    private FakeWatch(String from, Watcher<String> watcher) {
      this.from = from;
      this.watcher = watcher;
    }

    void tells(WatchEvent<String> event) {
      watcher.events(List.of(event), () -> readOn++);
    }

    void bookmark(String version) {
      tells(new WatchEvent.Bookmark<>(version));
    }

    /** In the stream. */
    void fails(int code) {
      tells(new WatchEvent.Failed<>(code, Duration.ZERO));
    }

    void ends(@Nullable Throwable failure) {
      open = false;
      watcher.ended(failure);
    }

    @Override
    public void close() {
      closed = true;
      open = false;
      watcher.ended(new IOException("closed"));
    }
  }
}
