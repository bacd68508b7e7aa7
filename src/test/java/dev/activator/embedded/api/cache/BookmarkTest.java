package dev.activator.embedded.api.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.cache.CacheWatcher.Request.Bookmarks;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart.After;
import dev.activator.testing.TestValues;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** How watchers are told that there is nothing to see. */
class BookmarkTest {
  private final FedCache fed = new FedCache(Windows.of(100));
  private final FakeOutlet outlet = FakeOutlet.quick();

  @Test
  @DisplayName("sends a bookmark after a minute of other changes, and none without changes")
  void reportsAfterAMinuteWhatHappenedElsewhere() {
    // given an idle watcher that wants bookmarks
    fed.listed(10);
    fed.watchWithBookmarks(new After(10), outlet);

    // when nothing is written for a while, then something of another kind
    fed.loop.advance(Duration.ofSeconds(61));
    assertThat(outlet.received()).isEmpty();
    fed.elsewhere(25);
    fed.loop.advance(Duration.ofMinutes(2));

    // then it is told once
    assertThat(outlet.received()).containsExactly("BOOKMARK @25");
  }

  @Test
  @DisplayName("sends one bookmark a minute while other objects change")
  void reportsOnceAMinute() {
    fed.listed(10);
    fed.watchWithBookmarks(new After(10), outlet);

    for (int second = 1; second <= 185; second++) {
      fed.elsewhere(10 + second);
      fed.loop.advance(Duration.ofSeconds(1));
    }

    assertThat(outlet.received()).containsExactly("BOOKMARK @70", "BOOKMARK @130", "BOOKMARK @190");
  }

  @Test
  @DisplayName("sends a bookmark shortly before a watch ends, and at its end")
  void reportsShortlyBeforeAWatchEnds() {
    fed.listed(10);
    watchFor(Duration.ofSeconds(10));
    fed.elsewhere(11);

    fed.loop.advance(Duration.ofMillis(7_999));
    assertThat(outlet.received()).isEmpty();
    fed.loop.advance(Duration.ofMillis(1));
    assertThat(outlet.received()).containsExactly("BOOKMARK @11");
    fed.elsewhere(12);
    fed.loop.advance(Duration.ofMillis(1_999));
    assertThat(outlet.ended()).isFalse();
    fed.loop.advance(Duration.ofMillis(1));

    assertThat(outlet.received()).containsExactly("BOOKMARK @11", "BOOKMARK @12");
    assertThat(outlet.ended()).isTrue();
    assertThat(fed.cache.dispatcher().count()).isZero();
    assertThat(fed.loop.pending()).isZero();
  }

  @Test
  @DisplayName("sends none before the end of a watch that is shorter than that")
  void lastsLongEnoughForAClientToBelieveInTheServer() {
    fed.listed(10);
    watchFor(Duration.ofSeconds(1));
    fed.elsewhere(11);

    fed.loop.advance(Duration.ofMillis(1_999));
    assertThat(outlet.received()).isEmpty();
    assertThat(outlet.ended()).isFalse();
    fed.loop.advance(Duration.ofMillis(1));

    assertThat(outlet.received()).containsExactly("BOOKMARK @11");
    assertThat(outlet.ended()).isTrue();
  }

  @Test
  @DisplayName("sends none to watches without bookmarks")
  void sendsNoBookmarkToWatchesThatDidNotRequestThem() {
    fed.listed(10);
    fed.watch(new CacheWatcher.Request(new After(10), TestValues.ALL_OBJECTS, Bookmarks.UNWANTED,
        Duration.ofSeconds(130)), outlet);
    fed.elsewhere(11);

    fed.loop.advance(Duration.ofSeconds(130));

    assertThat(outlet.received()).isEmpty();
    assertThat(outlet.ended()).isTrue();
  }

  @Test
  @DisplayName("never passes an event that still waits")
  void neverPassesAnEventThatStillWaits() {
    // given one that has not taken an event yet
    fed.listed(10);
    var slow = FakeOutlet.withRoom(0);
    var watch = fed.watchWithBookmarks(new After(10), slow);
    fed.put(11, "a", "1").elsewhere(12);

    // when it is time for a bookmark, and then it takes more
    fed.loop.advance(Duration.ofSeconds(61));
    slow.takes(5);
    watch.resume();
    fed.loop.advance(Duration.ofSeconds(1));
    assertThat(slow.received()).containsExactly("ADDED default/a@11");
    fed.loop.advance(Duration.ofSeconds(60));

    assertThat(slow.received()).containsExactly("ADDED default/a@11", "BOOKMARK @12");
  }

  private void watchFor(Duration timeout) {
    fed.watch(
        new CacheWatcher.Request(new After(10), TestValues.ALL_OBJECTS, Bookmarks.WANTED, timeout),
        outlet);
  }
}
