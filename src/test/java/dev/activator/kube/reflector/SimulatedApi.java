package dev.activator.kube.reflector;

import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.decode.ListWatchParser.Page;
import dev.activator.kube.decode.ListWatchParser.WatchEvent;
import dev.activator.kube.decode.WatchedKind;
import dev.activator.kube.informer.VersionedObject;
import dev.activator.testing.VirtualLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Objects of all kinds with one order of writes, as an API server has them: lists are of one moment and
 * come in pages, watches tell every write after a version, late but in order, and old versions are
 * forgotten. What can go wrong with a real one goes wrong here when a test says so.
 */
public final class SimulatedApi {
  private static final int PAGE = 4;

  private record Write(long version, boolean removed,
      VersionedObject<ObjectDecodeResult<Object>> object) {}

  /** Most simulations pass the largest signed number, as a server may that counts on for long. */
  private static final long FIRST_VERSION = Long.MAX_VALUE - 300;

  private final VirtualLoop clock;
  private final Random random;
  private final Map<WatchedKind<?>, Kind> kinds = new LinkedHashMap<>();
  private long version = 100;
  private boolean down;

  public SimulatedApi(VirtualLoop clock, Random random) {
    this.clock = clock;
    this.random = random;
  }

  /** Informers that list and watch here. */
  public SharedInformers informers(ReflectorContext context) {
    return new SharedInformers(new SharedInformers.Sources() {
      @Override
      @SuppressWarnings("unchecked") // A kind's objects have values of that kind.
      public <F> ListerWatcher<ObjectDecodeResult<F>> of(InformerQuery<F> query) {
        return (ListerWatcher<ObjectDecodeResult<F>>) (ListerWatcher<?>) kind(query.kind());
      }
    }, context);
  }

  /** Creates or changes an object. */
  public <F> void put(WatchedKind<F> kind, String key, String uid, F value) {
    kind(kind).put(new VersionedObject<>(key, uid, text(++version),
        new ObjectDecodeResult<>(value, null, List.of())));
  }

  public void remove(WatchedKind<?> kind, String key) {
    kind(kind).remove(key);
  }

  /** From now on nothing is answered, and no watch goes on. */
  public void goesDown() {
    down = true;
    breakWatches();
  }

  public void comesBack() {
    down = false;
  }

  /** All watches end, some regularly. */
  public void breakWatches() {
    kinds.values().forEach(kind -> List.copyOf(kind.watches).forEach(
        watch -> watch.end(random.nextBoolean() ? null : new IOException("connection reset"))));
  }

  /** One watch tells nothing more, and does not end. */
  public void losesEvents() {
    var open = kinds.values().stream().flatMap(kind -> kind.watches.stream()).toList();
    if (!open.isEmpty()) {
      open.get(random.nextInt(open.size())).silent = true;
    }
  }

  private static String text(long version) {
    return Long.toUnsignedString(FIRST_VERSION + version);
  }

  /** All watches tell what happens so much later for a while. */
  public void lags(Duration length) {
    kinds.values().forEach(kind -> kind.watches.forEach(
        watch -> watch.notBefore = clock.elapsed().toNanos() + length.toNanos()));
  }

  /** Old versions are forgotten: watches cannot go on from there, nor lists be read on. */
  public void compacts() {
    kinds.values().forEach(Kind::compact);
  }

  private Kind kind(WatchedKind<?> kind) {
    return kinds.computeIfAbsent(kind, _ -> new Kind());
  }

  private Duration millis(int most) {
    return Duration.ofNanos(random.nextLong(most * 1_000_000L));
  }

  /** The objects of one kind. */
  private final class Kind implements ListerWatcher<ObjectDecodeResult<Object>> {
    private final TreeMap<String, VersionedObject<ObjectDecodeResult<Object>>> objects = new TreeMap<>();
    private final List<Write> writes = new ArrayList<>();
    private final List<SimulatedWatch> watches = new ArrayList<>();
    private final Map<String, List<VersionedObject<ObjectDecodeResult<Object>>>> snapshots = new HashMap<>();
    private final Set<Long> expired = new HashSet<>();
    private long forgotten;

    @SuppressWarnings("unchecked") // see put(WatchedKind, …)
    void put(VersionedObject<?> now) {
      var object = (VersionedObject<ObjectDecodeResult<Object>>) now;
      objects.put(now.key(), object);
      write(new Write(version, false, object));
    }

    void remove(String key) {
      var last = objects.remove(key);
      if (last != null) {
        version++;
        write(new Write(version, true, new VersionedObject<>(key, last.uid(),
            text(version), last.object())));
      }
    }

    private void write(Write write) {
      writes.add(write);
      watches.forEach(SimulatedWatch::tellSoon);
    }

    void compact() {
      forgotten = version;
      writes.clear();
      snapshots.clear();
    }

    @Override
    public CompletableFuture<Page<ObjectDecodeResult<Object>>> page(String next) {
      return answer(() -> next.isEmpty() ? first() : rest(next));
    }

    @Override
    public CompletableFuture<Page<ObjectDecodeResult<Object>>> unpaged() {
      return answer(
          () -> new Page<>(List.copyOf(objects.values()), text(version), ""));
    }

    private Page<ObjectDecodeResult<Object>> first() {
      var all = List.copyOf(objects.values());
      var at = text(version);
      snapshots.put(at, all);
      return part(all, at, 0);
    }

    private Page<ObjectDecodeResult<Object>> rest(String next) {
      var at = next.substring(0, next.indexOf('/'));
      var all = snapshots.get(at);
      if (all == null) {
        throw new KubernetesApiException(410, Duration.ZERO);
      }
      return part(all, at, Integer.parseInt(next.substring(at.length() + 1)));
    }

    private Page<ObjectDecodeResult<Object>> part(
        List<VersionedObject<ObjectDecodeResult<Object>>> all,
        String at,
        int from) {
      int to = Math.min(all.size(), from + PAGE);
      return new Page<>(all.subList(from, to), at, to < all.size() ? at + "/" + to : "");
    }

    /** What is listed is of a moment between question and answer. */
    private CompletableFuture<Page<ObjectDecodeResult<Object>>> answer(
        java.util.function.Supplier<Page<ObjectDecodeResult<Object>>> page) {
      var answer = new CompletableFuture<Page<ObjectDecodeResult<Object>>>();
      clock.schedule(millis(5), () -> {
        try {
          if (down) {
            throw random.nextBoolean()
                ? new KubernetesApiException(503, Duration.ZERO)
                : new java.util.concurrent.CompletionException(new IOException("refused"));
          }
          var listed = page.get();
          clock.schedule(millis(10), () -> answer.complete(listed));
        } catch (RuntimeException failure) {
          clock.schedule(millis(10), () -> answer.completeExceptionally(failure));
        }
      });
      return answer;
    }

    @Override
    public Watch watch(String resourceVersion, Watcher<ObjectDecodeResult<Object>> watcher) {
      long from = Long.parseUnsignedLong(resourceVersion) - FIRST_VERSION;
      if (expired.contains(from)) {
        throw new AssertionError("asks again for a watch from " + from + ", which is expired");
      }
      var watch = new SimulatedWatch(this, watcher, from);
      clock.schedule(millis(10), watch::open);
      return watch;
    }
  }

  private final class SimulatedWatch implements ListerWatcher.Watch {
    private final Kind kind;
    private final ListerWatcher.Watcher<ObjectDecodeResult<Object>> watcher;
    private long received;
    private long notBefore;
    private boolean closed;
    private boolean pumping;
    private boolean silent;

    SimulatedWatch(Kind kind, ListerWatcher.Watcher<ObjectDecodeResult<Object>> watcher,
        long from) {
      this.kind = kind;
      this.watcher = watcher;
      this.received = from;
    }

    void open() {
      if (closed) {
        return;
      }
      if (down) {
        end(new IOException("refused"));
      } else if (received < kind.forgotten && random.nextBoolean()) {
        kind.expired.add(received);
        end(new KubernetesApiException(410, Duration.ZERO));
      } else {
        kind.watches.add(this);
        watcher.opened();
        if (received < kind.forgotten) {
          expire();
          return;
        }
        tellSoon();
        clock.schedule(millis(10_000), this::bookmark);
        clock.schedule(Duration.ofSeconds(30).plus(millis(30_000)), () -> end(null));
      }
    }

    private void tell(List<WatchEvent<ObjectDecodeResult<Object>>> events) {
      watcher.events(events, () -> {
      });
    }

    private void expire() {
      kind.expired.add(received);
      tell(List.of(new WatchEvent.Failed<>(410, Duration.ZERO)));
    }

    private void bookmark() {
      if (!closed && !silent && received < version && kind.writes.isEmpty()) {
        received = version;
      }
      if (!closed && !silent) {
        tell(List.of(new WatchEvent.Bookmark<>(text(received))));
        clock.schedule(millis(10_000), this::bookmark);
      }
    }

    void tellSoon() {
      if (!pumping && !closed) {
        pumping = true;
        var late = Duration.ofNanos(Math.max(0, notBefore - clock.elapsed().toNanos()));
        clock.schedule(late.plus(millis(4)), this::pump);
      }
    }

    private void pump() {
      pumping = false;
      if (closed || silent) {
        return;
      }
      if (received < kind.forgotten && received < version) {
        // Writes that were not told yet are forgotten.
        expire();
        return;
      }
      var events = new ArrayList<WatchEvent<ObjectDecodeResult<Object>>>();
      for (var write : kind.writes) {
        if (write.version > received) {
          received = write.version;
          events.add(write.removed
              ? new WatchEvent.Removed<>(write.object)
              : new WatchEvent.Put<>(write.object));
        }
      }
      if (!events.isEmpty()) {
        tell(events);
      }
    }

    void end(@Nullable Throwable why) {
      if (!closed) {
        closed = true;
        kind.watches.remove(this);
        watcher.ended(why);
      }
    }

    @Override
    public void close() {
      closed = true;
      kind.watches.remove(this);
    }
  }
}
