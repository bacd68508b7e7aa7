package dev.activator.embedded.api.cache;

import static dev.activator.embedded.api.cache.FedCache.object;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart.Snapshot;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Watches that begin with a list. */
class WatchListTest {
  private static final WatchStart NEWEST = new Snapshot(new Freshness.Newest());

  private final FedCache fed = new FedCache(Windows.of(10));
  private final FakeOutlet outlet = FakeOutlet.quick();

  @Test
  @DisplayName("sends what exists, marks its end, and goes on")
  void marksTheEndOfWhatWasThere() {
    fed.listed(9, object(5, "a", "1"), object(7, "b", "1"));

    fed.watchWithBookmarks(NEWEST, outlet);
    fed.put(10, "a", "1");

    assertThat(outlet.received()).containsExactly("ADDED default/a@5", "ADDED default/b@7",
        "SYNCED @9",
        "MODIFIED default/a@10");
  }

  @Test
  @DisplayName("marks the end at once where nothing is there")
  void marksTheEndAtOnceWhereNothingIsThere() {
    fed.listed(9);

    fed.watchWithBookmarks(NEWEST, outlet);

    assertThat(outlet.received()).containsExactly("SYNCED @9");
  }

  @Test
  @DisplayName("says in the stream after three seconds that the cache does not catch up")
  void saysInTheStreamThatTheCacheDoesNotCatchUp() {
    fed.listed(9).writtenElsewhere(12);
    fed.watchWithBookmarks(NEWEST, outlet);

    fed.loop.advance(Duration.ofMillis(2_999));
    assertThat(outlet.received()).isEmpty();
    fed.loop.advance(Duration.ofMillis(1));

    assertThat(outlet.received())
        .containsExactly("504 Timeout: Too large resource version: 12, current: 9");
    assertThat(outlet.ended()).isFalse();
    fed.loop.advance(Duration.ofSeconds(1));
    assertThat(outlet.ended()).isTrue();
    assertThat(fed.loop.pending()).isZero();
  }

  @Test
  @DisplayName("begins with a state that is new enough once the cache has caught up")
  void beginsOnceTheCacheHasCaughtUp() {
    fed.listed(9, object(5, "a", "1")).writtenElsewhere(12);
    fed.watchWithBookmarks(NEWEST, outlet);

    fed.loop.advance(Duration.ofSeconds(1));
    assertThat(outlet.received()).isEmpty();
    fed.put(12, "b", "1").put(13, "a", "1");

    assertThat(outlet.received()).containsExactly("ADDED default/a@5", "ADDED default/b@12",
        "SYNCED @12", "MODIFIED default/a@13");
  }

  @Test
  @DisplayName("does not mark the end for those who want no bookmarks")
  void doesNotMarkTheEndForThoseWhoWantNoBookmarks() {
    fed.listed(9, object(5, "a", "1"));

    fed.watch(new Snapshot(new Freshness.AtLeast(7)), outlet);

    assertThat(outlet.received()).containsExactly("ADDED default/a@5");
  }
}
