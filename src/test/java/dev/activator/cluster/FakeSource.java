package dev.activator.cluster;

import dev.activator.cluster.informer.VersionedObject;
import dev.activator.cluster.reflector.Source;
import dev.activator.testing.VirtualLoop;
import io.fabric8.kubernetes.client.KubernetesClientException;
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
 * An API and the library that reads it, without either: objects are texts, and lists, watches and
 * what goes wrong with them happen when told. A session lists at once unless the API is down, and
 * tells only what differs from what it knew, as the library does.
 */
public final class FakeSource implements Source<String> {
  private final VirtualLoop loop;
  private final Map<String, VersionedObject<String>> objects = new TreeMap<>();
  public final List<FakeSession> sessions = new ArrayList<>();
  /** When each list was made, in nanoseconds. */
  public final List<Long> lists = new ArrayList<>();
  public int audits;
  public int glances;
  private @Nullable CompletableFuture<Void> held;
  private long version = 10;
  private boolean down;
  private boolean silent;
  private boolean refusing;
  private boolean failsAudits;

  public FakeSource(VirtualLoop loop) {
    this.loop = loop;
  }

  public FakeSession last() {
    return sessions.getLast();
  }

  public void put(String key) {
    put(key, "u");
  }

  public void put(String key, String uid) {
    version++;
    var now = new VersionedObject<>(key, uid, String.valueOf(version), key + "@" + version);
    objects.put(key, now);
    if (!silent && !sessions.isEmpty()) {
      last().put(now);
    }
  }

  public void remove(String key) {
    version++;
    var last = objects.remove(key);
    if (!silent && last != null && !sessions.isEmpty()) {
      last().removed(last);
    }
  }

  /** From now on no watch tells anything, though it looks open. */
  public void losesEvents() {
    silent = true;
  }

  public void tellsAgain() {
    silent = false;
  }

  public void goesDown() {
    down = true;
    sessions.forEach(session -> session.watching = false);
  }

  public void comesBack() {
    down = false;
  }

  /** From now on lists are answered, and each watch with 403, after which the library lists again. */
  public void refusesWatches() {
    refusing = true;
    sessions.forEach(session -> session.watching = false);
  }

  /** From now on, or no longer, there is no fresh list, though watches go on. */
  public void failsAudits(boolean fails) {
    failsAudits = fails;
  }

  public void letsWatchesIn() {
    refusing = false;
  }

  public Map<String, String> truth() {
    var truth = new HashMap<String, String>();
    objects.forEach((key, object) -> truth.put(key, object.resourceVersion()));
    return truth;
  }

  @Override
  public FakeSession open(List<VersionedObject<String>> known, Listener<String> listener) {
    var session = new FakeSession(known, listener);
    sessions.add(session);
    session.relist();
    return session;
  }

  @Override
  public CompletableFuture<Map<String, String>> versions() {
    audits++;
    return down || failsAudits
        ? CompletableFuture.failedFuture(new IOException("down"))
        : CompletableFuture.completedFuture(truth());
  }

  @Override
  public CompletableFuture<Void> glance() {
    glances++;
    if (held != null) {
      return held;
    }
    return down
        ? CompletableFuture.failedFuture(new IOException("down"))
        : CompletableFuture.completedFuture(null);
  }

  /** From now on whether a list would fail is known only when this is done. */
  public CompletableFuture<Void> holdsGlances() {
    held = new CompletableFuture<>();
    return held;
  }

  /** One informer of the library's. */
  public final class FakeSession implements Session {
    private final Map<String, VersionedObject<String>> cache = new TreeMap<>();
    public final List<VersionedObject<String>> known;
    private final Listener<String> listener;
    public boolean watching;
    public boolean closed;
    private @Nullable String reached;

    private FakeSession(List<VersionedObject<String>> known, Listener<String> listener) {
      this.known = known;
      this.listener = listener;
      known.forEach(one -> cache.put(one.key(), one));
    }

    public void relist() {
      listener.listing();
      if (down) {
        listener.failed(new IOException("down"));
        return;
      }
      finishList();
    }

    public void finishList() {
      lists.add(loop.nanoTime());
      objects.values().stream().filter(now -> !now.equals(cache.get(now.key()))).toList()
          .forEach(this::put);
      cache.values().stream().filter(one -> !objects.containsKey(one.key())).toList()
          .forEach(this::removed);
      reached = String.valueOf(version);
      listener.listed(reached);
      watching = !refusing;
      if (refusing) {
        loop.schedule(Duration.ofMillis(50), this::isRefused);
      }
    }

    private void isRefused() {
      if (!closed) {
        listener.failed(new KubernetesClientException("no", 403, null));
        loop.schedule(Duration.ofMillis(300), () -> {
          if (!closed) {
            relist();
          }
        });
      }
    }

    public void put(VersionedObject<String> now) {
      cache.put(now.key(), now);
      reached = now.resourceVersion();
      listener.put(now);
    }

    public void removed(VersionedObject<String> last) {
      cache.remove(last.key());
      reached = String.valueOf(version);
      listener.removed(last);
    }

    /** A bookmark. */
    public void reaches(String newVersion) {
      reached = newVersion;
    }

    public void ends(Throwable failure) {
      watching = false;
      listener.ended(failure);
    }

    @Override
    public boolean watching() {
      return watching;
    }

    @Override
    public @Nullable String resourceVersion() {
      return reached;
    }

    @Override
    public void close() {
      closed = true;
      watching = false;
      listener.ended(null);
    }
  }
}
