package dev.activator.embedded.api.cache;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.Objects.with;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static dev.activator.embedded.api.store.BuiltInKinds.ENDPOINTS;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.testing.Seeds;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FeedTest {
  private static final List<Kind> MAPS = List.of(CONFIG_MAP);

  private final VirtualLoop loop = new VirtualLoop();
  private final ApiStore store = new ApiStore(
      Clock.fixed(Instant.EPOCH.plusSeconds(1), ZoneOffset.UTC));
  private final FeedFaults faults = new FeedFaults(loop);
  private final WatchCaches caches = new WatchCaches(store, loop, WatchCacheSettings.DEFAULT,
      faults::over);
  private WatchCache maps;
  private WatchCache endpoints;

  @BeforeEach
  void start() {
    caches.start();
    loop.run();
    maps = caches.of(CONFIG_MAP).orElseThrow().join();
    endpoints = caches.of(ENDPOINTS).orElseThrow().join();
  }

  @Test
  void bringsNothingToAFrozenCacheAndEverythingOnceItIsFreed() {
    store.create(CONFIG_MAP, named("a"));
    faults.freeze(MAPS);
    store.create(CONFIG_MAP, named("b"));
    store.create(ENDPOINTS, named("e"));
    loop.advance(ofSeconds(100));

    assertThat(keys(maps)).containsExactly("default/a");
    assertThat(keys(endpoints)).containsExactly("default/e");
    faults.free(MAPS);
    loop.run();
    assertThat(keys(maps)).containsExactly("default/a", "default/b");
    assertThat(revision(maps)).isEqualTo(store.revision());
  }

  @Test
  void bringsEachCommitLaterToACacheThatLags() {
    faults.delay(MAPS, ofMillis(50));
    store.create(CONFIG_MAP, named("a"));
    loop.advance(ofMillis(30));
    store.create(CONFIG_MAP, named("b"));

    loop.advance(ofMillis(19));
    assertThat(keys(maps)).isEmpty();
    loop.advance(ofMillis(1));
    assertThat(keys(maps)).containsExactly("default/a");
    loop.advance(ofMillis(30));
    assertThat(keys(maps)).containsExactly("default/a", "default/b");
  }

  @Test
  void aCacheThatIsDownServesNothingAndIsFilledWithWhatIsThere() {
    store.create(CONFIG_MAP, named("a"));
    loop.run();
    var outlet = FakeOutlet.quick();
    maps.watch(
        new CacheWatcher.Request(new WatchStart.After(store.revision()), TestValues.ALL_OBJECTS,
            CacheWatcher.Request.Bookmarks.UNWANTED, ofSeconds(600)),
        outlet);
    loop.run();

    faults.takeDown(caches, MAPS);
    store.create(CONFIG_MAP, named("b"));
    loop.run();
    assertThat(outlet.ended()).isTrue();
    assertThat(new FakeReader(maps.read(new Freshness.Whatever())).received())
        .containsExactly("429 storage is (re)initializing");

    faults.fill(caches, MAPS);
    store.create(CONFIG_MAP, named("c"));
    loop.run();
    assertThat(keys(maps)).containsExactly("default/a", "default/b", "default/c");
  }

  @Test
  void whateverHoldsItUpTheCacheIsNeverAheadNeverGoesBackAndCatchesUp() {
    Seeds.each(seed -> {
      var fresh = new FeedTest();
      fresh.start();
      fresh.whateverHoldsItUpTheCacheIsNeverAheadNeverGoesBackAndCatchesUp(seed);
    });
  }

  private void whateverHoldsItUpTheCacheIsNeverAheadNeverGoesBackAndCatchesUp(long seed) {
    var random = new Random(seed);
    long last = 0;
    boolean down = false;
    for (int i = 0; i < 60; i++) {
      // given writes while the feed is frozen, delayed, freed, taken down and filled
      switch (random.nextInt(8)) {
        case 0 -> faults.freeze(MAPS);
        case 1 -> faults.delay(MAPS, ofMillis(random.nextInt(100)));
        case 2 -> faults.free(MAPS);
        case 3 -> {
          faults.takeDown(caches, MAPS);
          down = true;
        }
        case 4 -> {
          faults.fill(caches, MAPS);
          down = false;
        }
        default -> write(random);
      }
      loop.advance(ofMillis(random.nextInt(40)));

      // then it never goes back, and never tells what was not written
      if (!down) {
        long now = revision(maps);
        assertThat(now).isBetween(last, store.revision());
        last = now;
      }
    }
    // when all is healed, then it knows what the store knows
    faults.fill(caches, MAPS);
    faults.free(MAPS);
    loop.advance(ofSeconds(1));
    assertThat(keys(maps)).isEqualTo(store.list(CONFIG_MAP).stream().map(ObjectMeta::key).toList());
    assertThat(revision(maps)).isEqualTo(store.revision());
  }

  private void write(Random random) {
    var object = with(named("m" + random.nextInt(5)), "k", Integer.toString(random.nextInt()));
    boolean there = store.find(CONFIG_MAP, "default", ObjectMeta.name(object)) != null;
    if (!there) {
      store.create(CONFIG_MAP, object);
    } else if (random.nextBoolean()) {
      store.writes().update(CONFIG_MAP, object);
    } else {
      store.delete(CONFIG_MAP, "default", ObjectMeta.name(object));
    }
  }

  private static List<String> keys(WatchCache cache) {
    var snapshot = cache.read(new Freshness.Whatever()).join();
    return FedCache.all(snapshot.objects()).stream().map(WatchCacheObject::key).toList();
  }

  private static long revision(WatchCache cache) {
    return cache.read(new Freshness.Whatever()).join().revision();
  }

  @Test
  void fillsACacheAgainThatCannotTakeACommitAndGoesOnWithTheOthers() {
    // given a cache that is ahead of the store, so that the next commit is no news to it
    maps.replace(List.of(), store.revision() + 1);
    var outlet = FakeOutlet.quick();
    maps.watch(
        new CacheWatcher.Request(new WatchStart.After(store.revision() + 1), TestValues.ALL_OBJECTS,
            CacheWatcher.Request.Bookmarks.UNWANTED, ofSeconds(600)),
        outlet);
    loop.run();

    // when it is brought one
    store.create(CONFIG_MAP, named("a"));
    store.create(ENDPOINTS, named("e"));
    loop.run();

    // then nothing is skipped: its watches end, and it has all there is
    assertThat(outlet.ended()).isTrue();
    assertThat(keys(maps)).containsExactly("default/a");
    assertThat(keys(endpoints)).containsExactly("default/e");
  }
}
