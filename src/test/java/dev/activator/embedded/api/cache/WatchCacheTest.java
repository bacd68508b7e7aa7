package dev.activator.embedded.api.cache;

import static dev.activator.embedded.api.cache.FedCache.labelled;
import static dev.activator.embedded.api.cache.FedCache.object;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.ApiException;
import dev.activator.embedded.api.cache.WatchRequest.Bookmarks;
import dev.activator.embedded.api.policy.Freshness;
import dev.activator.embedded.api.policy.WatchStart;
import dev.activator.embedded.api.policy.WatchStart.After;
import dev.activator.embedded.api.policy.WatchStart.Now;
import dev.activator.embedded.api.policy.WatchStart.Snapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WatchCacheTest {
  private static final WatchStart ANY = new Snapshot(new Freshness.Whatever());
  private static final WatchStart NEWEST = new Snapshot(new Freshness.Newest());

  private final FedCache fed = new FedCache(Capacity.fixed(3));
  private final FakeOutlet outlet = FakeOutlet.quick();

  /** Each row: how many of the events 12, 15, 19, 23 came; the version asked; what is told. */
  @ParameterizedTest(name = "{0} events, after {1}: {2}")
  @CsvSource({"2, 8, 410 (10)", "2, 9, 410 (10)", "2, 10, 12 15", "2, 11, 12 15", "2, 12, 15",
      "2, 14, 15", "2, 15, -", "2, 30, -", "3, 9, 410 (10)", "3, 10, 12 15 19", "3, 12, 15 19",
      "3, 15, 19", "3, 30, -", "4, 10, 410 (14)", "4, 12, 410 (14)", "4, 14, 15 19 23",
      "4, 15, 19 23", "4, 23, -", "4, 30, -"})
  void deliversWhatFollowsAVersionOrSaysThatItIsTooOld(int events, long after, String told) {
    // given a listing at 10 and room for three events
    fed.listed(10);
    List.of(12L, 15L, 19L, 23L).subList(0, events)
        .forEach(revision -> fed.put(revision, "o" + revision, "1"));

    // when someone watches from a version on
    fed.watch(new After(after), outlet);

    // then
    if (told.startsWith("410")) {
      assertThat(outlet.told())
          .containsExactly("410 too old resource version: " + after + " " + told.substring(4));
    } else {
      var expected = told.equals("-") ? List.<String>of() : List.of(told.split(" "));
      assertThat(outlet.told()).containsExactlyElementsOf(
          expected.stream().map(rv -> "ADDED default/o" + rv + "@" + rv).toList());
    }
  }

  @Test
  void skipsWhatComesBeforeAVersionOfTheFuture() {
    fed.listed(10);
    fed.watch(new After(13), outlet);

    fed.put(12, "a", "1").put(14, "b", "1");

    assertThat(outlet.told()).containsExactly("ADDED default/b@14");
  }

  @Test
  void beginsWithWhatIsThereThenGoesOn() {
    // given objects with versions of their own, older than the cache's
    fed.listed(12, object(5, "b", "1"), object(9, "a", "1"));

    // when someone watches from any state, and an object changes
    fed.watch(ANY, outlet);
    fed.put(13, "b", "2").delete(14, "a");

    // then
    assertThat(outlet.told()).containsExactly("ADDED default/a@9", "ADDED default/b@5",
        "MODIFIED default/b@13", "DELETED default/a@14");
  }

  @Test
  void marksTheEndOfWhatWasThere() {
    fed.listed(9, object(5, "a", "1"), object(7, "b", "1"));

    fed.watch(new WatchRequest(NEWEST, Selection.ALL, Bookmarks.WANTED, Duration.ofMinutes(30)),
        outlet);
    fed.put(10, "a", "1");

    assertThat(outlet.told()).containsExactly("ADDED default/a@5", "ADDED default/b@7", "SYNCED @9",
        "MODIFIED default/a@10");
  }

  @Test
  void beginsWithNothingIfOnlyTheFutureIsWanted() {
    fed.listed(9, object(5, "a", "1"));

    fed.watch(new Now(new Freshness.Newest()), outlet);
    fed.put(10, "a", "2");

    assertThat(outlet.told()).containsExactly("MODIFIED default/a@10");
  }

  @Test
  void showsEachWatcherOnlyWhatPassesItsSelector() {
    // given a watcher of one label
    fed.listed(10);
    fed.watch(new After(10), labelled("l=1"), outlet);

    // when an object passes, still does, does no more, does again and goes; another never does
    fed.put(11, "a", "1").put(12, "x", "2").put(13, "a", "1").put(14, "a", "2").put(15, "a", "2")
        .put(16, "a", "1").delete(17, "a").delete(18, "x");

    // then it sees it come and go, each time with the event's version
    assertThat(outlet.told()).containsExactly("ADDED default/a@11", "MODIFIED default/a@13",
        "DELETED default/a@14", "ADDED default/a@16", "DELETED default/a@17");
    // and what went is told as it was when it last passed
    var gone = (Signal.Changed) outlet.signals.get(2);
    assertThat(gone.object().labels()).containsEntry("l", "1");
  }

  @Test
  void endsAllWatchesWhenItBeginsAnew() {
    fed.listed(10);
    fed.put(12, "a", "1");
    fed.watch(new After(10), outlet);

    fed.listed(20, object(18, "b", "1"));

    assertThat(outlet.ended()).isTrue();
    assertThat(fed.cache.watching()).isZero();
    var again = FakeOutlet.quick();
    fed.watch(new After(19), again);
    assertThat(again.told()).containsExactly("410 too old resource version: 19 (20)");
  }

  @Test
  void readsAtOnceWhatIsNewEnough() {
    fed.listed(10, object(5, "a", "1"));

    var read = read(new Freshness.AtLeast(10));

    assertThat(read).containsExactly("@10 [default/a@5]");
  }

  @Test
  void waitsUntilItIsNewEnough() {
    fed.listed(10);
    var read = read(new Freshness.AtLeast(12));

    fed.loop.advance(Duration.ofSeconds(1));
    assertThat(read).isEmpty();
    fed.put(13, "a", "1");

    assertThat(read).containsExactly("@13 [default/a@13]");
  }

  @Test
  void learnsFromOtherKindsHowNewItIs() {
    // given a write elsewhere of which the cache has not heard
    fed.listed(10).writtenElsewhere(11);
    var read = read(new Freshness.Newest());
    fed.loop.run();
    assertThat(read).isEmpty();

    // when it hears of it
    fed.elsewhere(11);

    // then it knows that it is up to date
    assertThat(read).containsExactly("@11 []");
  }

  @Test
  void givesUpOnAVersionThatDoesNotCome() {
    fed.listed(10);
    var read = read(new Freshness.AtLeast(15));

    fed.loop.advance(Duration.ofMillis(2_999));
    fed.put(11, "a", "1");
    assertThat(read).isEmpty();
    fed.loop.advance(Duration.ofMillis(1));

    assertThat(read).containsExactly("504 Timeout: Too large resource version: 15, current: 11");
  }

  @Test
  void tellsAWatcherInItsStreamThatItsVersionDoesNotCome() {
    fed.listed(9).writtenElsewhere(12);
    fed.watch(NEWEST, outlet);

    fed.loop.advance(Duration.ofSeconds(3));

    assertThat(outlet.told())
        .containsExactly("504 Timeout: Too large resource version: 12, current: 9");
    assertThat(outlet.ended()).isFalse();
    fed.loop.advance(Duration.ofSeconds(1));
    assertThat(outlet.ended()).isTrue();
  }

  @Test
  void readsTheStateOfAnOlderVersion() {
    fed.listed(10, object(5, "a", "1")).put(12, "b", "1").delete(14, "a");

    assertThat(read(new Freshness.Exactly(13))).containsExactly("@13 [default/a@5, default/b@12]");
    assertThat(read(new Freshness.Exactly(9)))
        .containsExactly("410 The resourceVersion for the provided list is too old.");
  }

  @Test
  void isNotReadyBeforeItsFirstListing() {
    assertThat(read(new Freshness.Whatever()))
        .containsExactly("429 storage is (re)initializing");
  }

  @Test
  void bookmarksWhatHappenedElsewhere() {
    // given an idle watcher that wants bookmarks
    fed.listed(10);
    fed.watch(new WatchRequest(new After(10), Selection.ALL, Bookmarks.WANTED,
        Duration.ofMinutes(30)), outlet);

    // when nothing is written for a while, then something of another kind
    fed.loop.advance(Duration.ofSeconds(61));
    assertThat(outlet.told()).isEmpty();
    fed.elsewhere(25);
    fed.loop.advance(Duration.ofMinutes(2));

    // then it is told once
    assertThat(outlet.told()).containsExactly("BOOKMARK @25");
  }

  @Test
  void bookmarksShortlyBeforeAWatchEnds() {
    fed.listed(10);
    fed.watch(new WatchRequest(new After(10), Selection.ALL, Bookmarks.WANTED,
        Duration.ofSeconds(10)), outlet);
    fed.elsewhere(11);

    fed.loop.advance(Duration.ofMillis(7_999));
    assertThat(outlet.told()).isEmpty();
    fed.loop.advance(Duration.ofMillis(1));
    assertThat(outlet.told()).containsExactly("BOOKMARK @11");
    fed.loop.advance(Duration.ofSeconds(2));

    assertThat(outlet.ended()).isTrue();
    assertThat(fed.cache.watching()).isZero();
  }

  @Test
  void endsAWatcherThatDoesNotTakeItsEventsAndKeepsTheOthers() {
    // given one that takes nothing, and one that takes all
    fed.listed(10);
    var stuck = FakeOutlet.withRoom(0);
    fed.watch(new After(10), stuck);
    fed.watch(new After(10), outlet);

    // when as many events come as the slow one's buffer holds, and one more
    for (int revision = 11; revision <= 21; revision++) {
      fed.put(revision, "a", "1");
    }
    assertThat(stuck.ended()).isFalse();
    fed.loop.advance(Duration.ofMillis(100));

    // then it has ended, and the other has everything
    assertThat(stuck.ended()).isTrue();
    assertThat(outlet.told()).hasSize(11).endsWith("MODIFIED default/a@21");
    assertThat(fed.cache.watching()).isEqualTo(1);
  }

  @Test
  void keepsAWatcherThatCatchesUpInTime() {
    fed.listed(10);
    var slow = FakeOutlet.withRoom(0);
    var watch = fed.watch(new After(10), slow);
    for (int revision = 11; revision <= 21; revision++) {
      fed.put(revision, "a", "1");
    }

    // when it takes what waits within the time that all wait for it
    fed.loop.advance(Duration.ofMillis(50));
    slow.takes(100);
    watch.resume();
    fed.loop.advance(Duration.ofSeconds(1));

    assertThat(slow.ended()).isFalse();
    assertThat(slow.told()).hasSize(11).endsWith("MODIFIED default/a@21");
  }

  @Test
  void endsAWatcherWhoseBacklogFellOutOfTheWindow() {
    // given a watcher that took one of three old events
    var wide = new FedCache(Capacity.fixed(200));
    wide.listed(10);
    for (int revision = 11; revision <= 210; revision++) {
      wide.put(revision, "o" + revision, "1");
    }
    var slow = FakeOutlet.withRoom(100);
    var watch = wide.watch(new After(10), labelled("l=1"), slow);
    assertThat(slow.told()).hasSize(100);

    // when events that it does not see push the rest out
    for (int revision = 211; revision <= 360; revision++) {
      wide.put(revision, "x", "2");
    }
    slow.takes(1_000);
    watch.resume();
    wide.loop.run();

    // then it ends without a gap, and learns the truth when it asks again
    assertThat(slow.told()).hasSize(100).endsWith("ADDED default/o110@110");
    assertThat(slow.ended()).isTrue();
    wide.watch(new After(110), outlet);
    assertThat(outlet.told()).containsExactly("410 too old resource version: 110 (160)");
  }

  @Test
  void sendsASlowWatcherTheMarkBeforeItEnds() {
    // given one that is in the middle of what was there at the start
    fed.listed(10, object(1, "a", "1"), object(2, "b", "1"));
    var slow = FakeOutlet.withRoom(1);
    var watch = fed.watch(
        new WatchRequest(ANY, Selection.ALL, Bookmarks.WANTED, Duration.ofMinutes(30)), slow);

    // when it becomes too slow, and then takes more
    for (int revision = 11; revision <= 21; revision++) {
      fed.put(revision, "c", "1");
    }
    fed.loop.advance(Duration.ofMillis(100));
    slow.takes(10);
    watch.resume();
    fed.loop.run();

    // then it gets so far that it can resume
    assertThat(slow.told()).containsExactly("ADDED default/a@1", "ADDED default/b@2", "SYNCED @10");
    assertThat(slow.ended()).isTrue();
  }

  @Test
  void forgetsAWatcherThatIsGone() {
    fed.listed(10);
    var watch = fed.watch(new After(10), outlet);

    watch.cancel();
    watch.cancel();
    fed.loop.run();
    fed.put(11, "a", "1");

    assertThat(outlet.told()).isEmpty();
    assertThat(fed.cache.watching()).isZero();
  }

  private List<String> read(Freshness freshness) {
    var results = new ArrayList<String>();
    fed.cache.read(freshness, new SnapshotReader() {
      @Override
      public void read(CacheSnapshot snapshot) {
        results.add("@" + snapshot.revision() + " " + snapshot.objects().stream().toList());
      }

      @Override
      public void failed(ApiException failure) {
        results.add(failure.code() + " " + failure.getMessage());
      }
    });
    fed.loop.run();
    return results;
  }
}
