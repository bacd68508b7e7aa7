package dev.activator.embedded.api.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.ApiEvent;
import dev.activator.embedded.api.cache.WatchRequest.Bookmarks;
import dev.activator.embedded.api.policy.Freshness;
import dev.activator.embedded.api.policy.WatchStart;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Clients that list, watch, fall behind, end and come back, while objects change at random. */
class WatchCacheSimulationTest {
  /** What one object was at a version: its label, or empty when it was deleted. */
  private record Change(long revision, String name, String label) {}

  private final FedCache fed = new FedCache(new Capacity(20, 40, Duration.ofSeconds(5)));
  private final List<Change> history = new ArrayList<>();
  private final Map<String, String> stored = new TreeMap<>();
  private long revision = 10;

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("dev.activator.testing.Seeds#first300")
  void everyWatcherSeesEveryChangeOnceAndInOrder(long seed) {
    var random = new Random(seed);
    fed.listed(revision);
    var clients = new ArrayList<Client>();
    for (int i = 0; i < 8; i++) {
      clients.add(new Client(List.of("", "l=1", "l!=1", "l in (1,2)").get(i % 4)));
    }
    for (int i = 0; i < 150; i++) {
      write(random);
      for (var client : clients) {
        client.act(random);
      }
      fed.loop.advance(Duration.ofMillis(random.nextInt(200)));
      clients.forEach(Client::check);
    }
    // when all take what there is, then every client knows the state
    for (int i = 0; i < 3; i++) {
      clients.forEach(Client::takeAll);
      fed.loop.advance(Duration.ofSeconds(2));
    }
    clients.forEach(client -> {
      client.check();
      assertThat(client.known).isEqualTo(stateAt(revision, client.selector));
    });
  }

  private void write(Random random) {
    for (int i = random.nextInt(4); i > 0; i--) {
      revision += 1 + random.nextInt(3);
      String name = "o" + random.nextInt(6);
      if (random.nextInt(4) == 0) {
        fed.elsewhere(revision);
      } else if (stored.containsKey(name) && random.nextInt(3) == 0) {
        stored.remove(name);
        history.add(new Change(revision, name, ""));
        fed.delete(revision, name);
      } else {
        String label = Integer.toString(1 + random.nextInt(3));
        stored.put(name, label);
        history.add(new Change(revision, name, label));
        fed.put(revision, name, label);
      }
    }
  }

  private Map<String, String> stateAt(long at, String selector) {
    var state = new TreeMap<String, String>();
    for (var change : history) {
      if (change.revision() <= at) {
        state.put(change.name(), change.label());
      }
    }
    state.values().removeIf(label -> label.isEmpty() || !passes(label, selector));
    return state;
  }

  private static boolean passes(String label, String selector) {
    return switch (selector) {
      case "l=1" -> label.equals("1");
      case "l!=1" -> !label.equals("1");
      case "l in (1,2)" -> !label.equals("3");
      default -> true;
    };
  }

  /** A client as an informer is one: it lists, watches from there, and lists again after a 410. */
  private final class Client {
    final String selector;
    final Map<String, String> known = new TreeMap<>();
    private FakeOutlet outlet = FakeOutlet.quick();
    private Watch watch;
    private int read;
    private long at;
    private boolean listing;

    Client(String selector) {
      this.selector = selector;
      list();
    }

    void act(Random random) {
      if (outlet.ended() || random.nextInt(40) == 0) {
        reconnect();
      }
      if (random.nextInt(3) > 0) {
        outlet.takes(random.nextInt(6));
        watch.resume();
      }
    }

    void takeAll() {
      if (outlet.ended()) {
        reconnect();
      }
      outlet.takes(10_000);
      watch.resume();
    }

    private void reconnect() {
      watch.cancel();
      fed.loop.run();
      check();
      boolean tooOld = outlet.told().stream().anyMatch(told -> told.startsWith("410"));
      if (tooOld || listing) {
        list();
      } else {
        open(new WatchStart.After(at));
      }
    }

    private void list() {
      known.clear();
      at = 0;
      listing = true;
      open(new WatchStart.Snapshot(new Freshness.Newest()));
    }

    private void open(WatchStart start) {
      outlet = FakeOutlet.withRoom(3);
      read = 0;
      watch = fed.watch(new WatchRequest(start, FedCache.labelled(selector), Bookmarks.WANTED,
          Duration.ofSeconds(30)), outlet);
    }

    /** Takes in what it was told, and compares with what was so. */
    void check() {
      while (read < outlet.signals.size()) {
        take(outlet.signals.get(read));
        read++;
      }
    }

    private void take(Signal signal) {
      switch (signal) {
        case Signal.Changed(var type, var object) -> change(type, object);
        case Signal.Bookmark(var bookmarked, var position) -> {
          assertThat(bookmarked).isGreaterThan(listing ? 0 : at);
          at = bookmarked;
          listing = false;
          assertThat(known).as("at the bookmark %d", at).isEqualTo(stateAt(at, selector));
        }
        case Signal.Failed(var failure) -> assertThat(failure.code()).isEqualTo(410);
      }
    }

    private void change(ApiEvent.Type type, CachedObject object) {
      String name = object.key().substring("default/".length());
      if (!listing) {
        assertThat(object.revision()).isGreaterThan(at);
        at = object.revision();
      }
      assertThat(known.containsKey(name)).isEqualTo(type != ApiEvent.Type.ADDED);
      if (type == ApiEvent.Type.DELETED) {
        known.remove(name);
      } else {
        known.put(name, object.labels().get("l"));
      }
      if (!listing) {
        assertThat(known).as("after %s %s", type, object).isEqualTo(stateAt(at, selector));
      }
    }
  }
}
