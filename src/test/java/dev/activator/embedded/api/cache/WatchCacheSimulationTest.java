package dev.activator.embedded.api.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.cache.WatchCacheSettings.Capacity;
import dev.activator.embedded.api.cache.CacheWatcher.Request.Bookmarks;
import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.testing.Seeds;
import dev.activator.testing.TestValues;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/**
 * Clients that list, watch, fall behind, end and come back, while objects change at random, the
 * window grows and shrinks, events are forgotten, and the cache goes down and begins anew.
 */
class WatchCacheSimulationTest {
  private static final int SMALLEST_WINDOW = 20;
  private static final List<ObjectSelection> SELECTIONS = List.of(TestValues.ALL_OBJECTS,
      FedCache.labelled("l=1"), FedCache.labelled("l!=1"), FedCache.labelled("l in (1,2)"),
      FedCache.fielded("metadata.name=o1"), FedCache.fielded("metadata.name!=o1"));

  /** What one object was at a version: its label, or empty when it was deleted. */
  private record Change(long revision, String name, String label) {
    ObjectNode object() {
      return FedCache.object(revision, name, label);
    }
  }

  private final FedCache fed = new FedCache(
      Windows.of(new Capacity(SMALLEST_WINDOW, 80, Duration.ofSeconds(5))));
  private final List<Change> history = new ArrayList<>();
  private final Map<String, Change> stored = new TreeMap<>();
  private long revision = 10;
  private long begun = 10;
  private boolean up = true;

  @Test
  void everyWatcherSeesEveryChangeOnceAndInOrder() {
    Seeds.each(
        seed -> new WatchCacheSimulationTest().everyWatcherSeesEveryChangeOnceAndInOrder(seed));
  }

  private void everyWatcherSeesEveryChangeOnceAndInOrder(long seed) {
    var random = new Random(seed);
    fed.listed(revision);
    var clients = new ArrayList<Client>();
    for (int i = 0; i < 12; i++) {
      clients.add(new Client(SELECTIONS.get(i % SELECTIONS.size())));
    }
    for (int i = 0; i < 100; i++) {
      step(random);
      clients.forEach(client -> client.act(random));
      readSomeVersion(random);
      watchFromTheEdge(random);
      fed.loop.advance(Duration.ofMillis(random.nextInt(200)));
      clients.forEach(Client::check);
    }
    // when all take what there is, then every client knows the state
    beginAnew();
    for (int i = 0; i < 3; i++) {
      clients.forEach(Client::takeAll);
      fed.loop.advance(Duration.ofSeconds(5));
      clients.forEach(Client::check);
    }
    clients.forEach(client -> assertThat(client.known)
        .as("%s", client.selection).isEqualTo(stateAt(revision, client.selection)));

    // and when all leave, then nothing of them stays
    clients.forEach(client -> client.watch.cancel());
    fed.loop.run();
    assertThat(fed.cache.dispatcher().count()).isZero();
    assertThat(fed.cache.waiting()).isZero();
    fed.loop.advance(Duration.ofSeconds(1));
    assertThat(fed.loop.pending()).isZero();
  }

  private void step(Random random) {
    int what = random.nextInt(60);
    if (!up) {
      if (what < 20) {
        beginAnew();
      }
    } else if (what == 0) {
      fed.cache.takeDown();
      up = false;
    } else if (what == 1) {
      missSomeThenBeginAnew(random);
    } else if (what == 2) {
      FeedFaults.forget(fed.cache);
      begun = revision;
    } else {
      // Now and then more at once than a small window or a buffer holds.
      for (int i = what == 3 ? 60 : random.nextInt(4); i > 0; i--) {
        write(random);
      }
    }
  }

  private void write(Random random) {
    revision += 1 + random.nextInt(3);
    if (random.nextInt(4) == 0) {
      fed.elsewhere(revision);
      return;
    }
    var change = change(random);
    if (change.label().isEmpty()) {
      fed.delete(revision, change.name());
    } else {
      fed.put(revision, change.name(), change.label());
    }
  }

  /** One object is written or deleted at the newest version. */
  private Change change(Random random) {
    String name = "o" + random.nextInt(6);
    boolean gone = stored.containsKey(name) && random.nextInt(3) == 0;
    var change = new Change(revision, name, gone ? "" : Integer.toString(1 + random.nextInt(3)));
    history.add(change);
    if (gone) {
      stored.remove(name);
    } else {
      stored.put(name, change);
    }
    return change;
  }

  private void missSomeThenBeginAnew(Random random) {
    for (int i = random.nextInt(3); i > 0; i--) {
      revision++;
      change(random);
    }
    beginAnew();
  }

  private void beginAnew() {
    fed.listed(revision,
        stored.values().stream().map(Change::object).toArray(ObjectNode[]::new));
    begun = revision;
    up = true;
    assertThat(fed.cache.dispatcher().count()).isZero();
  }

  private void readSomeVersion(Random random) {
    long asked = revision - random.nextInt(60);
    boolean kept = up && !missed(asked);
    var read = fed.cache
        .read(random.nextBoolean() ? new Freshness.Exactly(asked) : new Freshness.Whatever());
    fed.loop.run();
    if (read.isCompletedExceptionally()) {
      assertThat(((StatusException) read.exceptionNow()).code()).isEqualTo(up ? 410 : 429);
      assertThat(kept).as("the list at %d was still there", asked).isFalse();
    } else {
      var snapshot = read.resultNow();
      assertThat(state(snapshot.objects())).as("the list at %d", snapshot.revision())
          .isEqualTo(stateAt(snapshot.revision(), TestValues.ALL_OBJECTS));
    }
  }

  /** Near the oldest version from which a watch can begin: all that followed, or a refusal. */
  private void watchFromTheEdge(Random random) {
    if (!up) {
      return;
    }
    long asked = fed.cache.window().oldestRevision() - 3 + random.nextInt(7);
    var outlet = FakeOutlet.quick();
    fed.watch(new WatchStart.After(asked), outlet).cancel();
    fed.loop.run();
    if (outlet.signals().stream().anyMatch(WatchMessage.Failed.class::isInstance)) {
      assertThat(missed(asked)).as("refused after %d", asked).isTrue();
    } else {
      assertThat(
          outlet.signals().stream().map(each -> ((WatchMessage.Changed) each).object().revision()))
          .as("after %d", asked).containsExactlyElementsOf(history.stream()
              .map(Change::revision).filter(each -> each > asked).toList());
    }
  }

  /** Whether the cache may have forgotten something that happened after this version. */
  private boolean missed(long asked) {
    long after = history.stream().filter(change -> change.revision() > asked).count();
    return asked < begun || after > SMALLEST_WINDOW;
  }

  private static Map<String, String> state(SortedObjects objects) {
    var state = new TreeMap<String, String>();
    FedCache.all(objects).forEach(object -> state.put(name(object), text(object)));
    return state;
  }

  private Map<String, String> stateAt(long at, ObjectSelection selection) {
    var state = new TreeMap<String, Change>();
    for (var change : history) {
      if (change.revision() <= at) {
        state.put(change.name(), change);
      }
    }
    var seen = new TreeMap<String, String>();
    state.forEach((name, change) -> {
      if (!change.label().isEmpty() && passes(change, selection)) {
        seen.put(name, change.label() + "@" + change.revision());
      }
    });
    return seen;
  }

  private static boolean passes(Change change, ObjectSelection selection) {
    return switch (SELECTIONS.indexOf(selection)) {
      case 1 -> change.label().equals("1");
      case 2 -> !change.label().equals("1");
      case 3 -> !change.label().equals("3");
      case 4 -> change.name().equals("o1");
      case 5 -> !change.name().equals("o1");
      default -> true;
    };
  }

  private static String name(WatchCacheObject object) {
    return object.key().substring("default/".length());
  }

  private static String text(WatchCacheObject object) {
    return object.labels().get("l") + "@" + object.revision();
  }

  /** A client as an informer is one: it lists, watches from there, and lists again after a 410. */
  private final class Client {
    final ObjectSelection selection;
    final Map<String, String> known = new TreeMap<>();
    private FakeOutlet outlet = FakeOutlet.quick();
    private CacheWatcher watch;
    private int read;
    private long at;
    private boolean listing;
    private boolean mayBeTooOld;

    Client(ObjectSelection selection) {
      this.selection = selection;
      list(new Freshness.Newest());
    }

    void act(Random random) {
      if (outlet.ended() || random.nextInt(40) == 0) {
        reconnect(random.nextInt(4) == 0
            ? new Freshness.AtLeast(revision + random.nextInt(4))
            : new Freshness.Newest());
      }
      if (random.nextInt(3) > 0) {
        outlet.takes(random.nextInt(6));
        watch.resume();
      }
    }

    void takeAll() {
      if (outlet.ended()) {
        reconnect(new Freshness.Newest());
      }
      outlet.takes(10_000);
      watch.resume();
    }

    private void reconnect(Freshness freshness) {
      watch.cancel();
      fed.loop.run();
      check();
      boolean failed = outlet.signals().stream().anyMatch(WatchMessage.Failed.class::isInstance);
      if (failed || listing) {
        list(freshness);
      } else {
        mayBeTooOld = missed(at);
        open(new WatchStart.After(at));
      }
    }

    private void list(Freshness freshness) {
      known.clear();
      at = 0;
      listing = true;
      mayBeTooOld = false;
      open(new WatchStart.Snapshot(freshness));
    }

    private void open(WatchStart start) {
      outlet = FakeOutlet.withRoom(3);
      read = 0;
      watch = fed.watch(new CacheWatcher.Request(start, selection, Bookmarks.WANTED,
          Duration.ofSeconds(30)), outlet);
    }

    /** Takes in what it was told, and compares with what was so. */
    void check() {
      while (read < outlet.signals().size()) {
        take(outlet.signals().get(read));
        read++;
      }
    }

    private void take(WatchMessage signal) {
      switch (signal) {
        case WatchMessage.Changed(var type, var object) -> change(type, object);
        case WatchMessage.Bookmark(var bookmarked, var position) -> {
          assertThat(bookmarked).isGreaterThan(listing ? 0 : at);
          assertThat(position == WatchMessage.Position.END_OF_INITIAL_EVENTS).isEqualTo(listing);
          at = bookmarked;
          listing = false;
          assertThat(known).as("at the bookmark %d", at).isEqualTo(stateAt(at, selection));
        }
        case WatchMessage.Failed(var failure) -> {
          // Down, too old, or waiting for a version that nobody wrote.
          assertThat(failure.code()).isIn(429, 410, 504);
          assertThat(failure.code() == 410 && !mayBeTooOld).as("refused after %d", at).isFalse();
        }
      }
    }

    private void change(ApiStoreChange.Type type, WatchCacheObject object) {
      String name = name(object);
      if (!listing) {
        assertThat(object.revision()).isGreaterThan(at);
        at = object.revision();
      }
      assertThat(known.containsKey(name)).isEqualTo(type != ApiStoreChange.Type.ADDED);
      if (type == ApiStoreChange.Type.DELETED) {
        known.remove(name);
      } else {
        known.put(name, text(object));
      }
      if (!listing) {
        assertThat(known).as("after %s %s", type, object).isEqualTo(stateAt(at, selection));
      }
    }
  }
}
