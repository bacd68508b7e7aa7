package dev.activator.embedded.api.cache;

import static dev.activator.embedded.api.cache.FedCache.labelled;
import static dev.activator.embedded.api.cache.FedCache.object;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.cache.WatchCacheSettings.Buffers.Trigger;
import dev.activator.embedded.api.cache.CacheWatcher.Request.Bookmarks;
import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart.After;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart.Snapshot;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart;
import dev.activator.testing.TestValues;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What watchers see, how far they may fall behind, and that nothing of them stays. */
class WatcherTest {
  private static final WatchStart ANY = new Snapshot(new Freshness.Whatever());

  private final FedCache fed = new FedCache(Windows.of(3));
  private final FakeOutlet outlet = FakeOutlet.quick();

  /**
   * Each row: the label before, empty for none; the label after, empty for deleted; what one who
   * wants {@code l=1} is told.
   */
  @ParameterizedTest(name = "label {0} then {1}: {2}")
  @CsvSource({"1, 1, MODIFIED default/a@12", "1, 2, DELETED default/a@12",
      "1, '', DELETED default/a@12", "2, 1, ADDED default/a@12", "'', 1, ADDED default/a@12",
      "2, 2, ''", "2, '', ''", "'', 2, ''"})
  void showsEachWatcherHowAnObjectComesIntoSightAndGoes(String before, String after,
      String received) {
    change(before, after, labelled("l=1"));

    assertThat(outlet.received()).containsExactlyElementsOf(lines(received));
    assertContentOf(received, before);
  }

  /** The same with a field: {@code a} is in sight or not, according to who looks. */
  @ParameterizedTest(name = "field {0}, {1} then {2}: {3}")
  @CsvSource({"metadata.name=a, 1, 2, MODIFIED default/a@12",
      "metadata.name=a, 1, '', DELETED default/a@12", "metadata.name=a, '', 1, ADDED default/a@12",
      "metadata.name!=a, 1, 2, ''", "metadata.name!=a, 1, '', ''", "metadata.name!=a, '', 1, ''"})
  void goesByFieldsAsByLabels(String selector, String before, String after, String received) {
    change(before, after, FedCache.fielded(selector));

    assertThat(outlet.received()).containsExactlyElementsOf(lines(received));
  }

  private void change(String before, String after, ObjectSelection selection) {
    if (before.isEmpty()) {
      fed.listed(11);
    } else {
      fed.listed(11, object(11, "a", before));
    }
    fed.watch(new After(11), selection, outlet);
    if (after.isEmpty()) {
      fed.delete(12, "a");
    } else {
      fed.put(12, "a", after);
    }
  }

  private static Iterable<String> lines(String received) {
    return Stream.of(received).filter(line -> !line.isEmpty()).toList();
  }

  /** What went is told as it was when it was last in sight. */
  private void assertContentOf(String received, String before) {
    if (received.startsWith("DELETED")) {
      var gone = (WatchMessage.Changed) outlet.signals().getFirst();
      assertThat(gone.object().labels()).containsEntry("l", before);
      assertThat(new String(gone.object().json(), StandardCharsets.US_ASCII))
          .contains("\"l\":\"" + before + "\"").contains("\"resourceVersion\":\"12\"");
    }
  }

  @Test
  @DisplayName("encodes an event once, however many watch")
  void encodesAnEventOnceHoweverManyWatch() {
    // given two hundred watchers, half of which see the object only as it was
    fed.listed(10, object(9, "a", "1"));
    var outlets = new ArrayList<FakeOutlet>();
    for (int i = 0; i < 200; i++) {
      outlets.add(FakeOutlet.quick());
      fed.watch(new After(10), labelled(i % 2 == 0 ? "l" : "l=1"), outlets.getLast());
    }

    // when it changes out of sight of that half
    fed.put(11, "a", "2");

    // then each half was given the same bytes
    assertThat(outlets).allMatch(each -> each.signals().size() == 1);
    assertThat(outlets.stream().map(each -> (WatchMessage.Changed) each.signals().getFirst())
        .map(changed -> System.identityHashCode(changed.object().json())).distinct()).hasSize(2);
  }

  @Test
  @DisplayName("visits only watchers that may see an object")
  void callsOnlyWatchesThatMayHaveAnObject() {
    fed.listed(10);
    var all = FakeOutlet.quick();
    var here = FakeOutlet.quick();
    var elsewhere = FakeOutlet.quick();
    var one = FakeOutlet.quick();
    fed.watch(new After(10), all);
    fed.watch(new After(10), in("default", ""), here);
    fed.watch(new After(10), in("defaults", ""), elsewhere);
    fed.watch(new After(10), in("default", "metadata.name=a"), one);

    fed.put(11, "a", "1").put(12, "ab", "1");

    assertThat(all.received()).hasSize(2);
    assertThat(here.received()).hasSize(2);
    assertThat(elsewhere.received()).isEmpty();
    assertThat(one.received()).containsExactly("ADDED default/a@11");
  }

  private static ObjectSelection in(String namespace, String fields) {
    return new ObjectSelection(namespace, labelled("").labels(), FedCache.fielded(fields).fields());
  }

  @Test
  @DisplayName("ends a watcher that does not take its events, and keeps the others")
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
    fed.loop.advance(Duration.ofMillis(99));
    assertThat(stuck.ended()).isFalse();
    fed.loop.advance(Duration.ofMillis(1));

    // then it has ended, and the other has everything
    assertThat(stuck.ended()).isTrue();
    assertThat(outlet.received()).hasSize(11).endsWith("MODIFIED default/a@21");
    assertThat(fed.cache.dispatcher().count()).isEqualTo(1);
  }

  @Test
  @DisplayName("lets who was ended go on from the last version it has, without loss")
  void letsWhoWasEndedGoOn() {
    // given one that takes two events and then nothing, until it is ended
    var wide = new FedCache(Windows.of(100)).listed(10);
    var stuck = FakeOutlet.withRoom(2);
    wide.watch(new After(10), stuck);
    for (int revision = 11; revision <= 40; revision++) {
      wide.put(revision, "a", "1");
    }
    wide.loop.advance(Duration.ofSeconds(1));
    assertThat(stuck.ended()).isTrue();
    assertThat(stuck.received()).containsExactly("ADDED default/a@11", "MODIFIED default/a@12");

    // when it comes back
    wide.watch(new After(12), outlet);

    // then it gets the rest
    assertThat(outlet.received()).hasSize(28).startsWith("MODIFIED default/a@13")
        .endsWith("MODIFIED default/a@40");
  }

  @Test
  @DisplayName("delays the others by a stuck one for a moment, once")
  void delaysTheOthersByAStuckOneForAMomentOnce() {
    // given one that takes nothing, and one that takes all
    fed.listed(10);
    fed.watch(new After(10), FakeOutlet.withRoom(0));
    var delays = new ArrayList<Duration>();
    var written = new ArrayDeque<Duration>();
    fed.watch(new After(10), new Forwarding(outlet) {
      @Override
      public void send(WatchMessage signal) {
        super.send(signal);
        delays.add(fed.loop.elapsed().minus(written.remove()));
      }
    });

    // when a thousand events come, one every 10 ms
    for (int revision = 11; revision <= 1_010; revision++) {
      written.add(fed.loop.elapsed());
      fed.put(revision, "a", "1");
      fed.loop.advance(Duration.ofMillis(10));
    }

    // then the one that the stuck one could not take was on time, and the nine after it were not
    assertThat(delays).hasSize(1_000);
    assertThat(delays.stream().filter(delay -> !delay.isZero()).map(Duration::toMillis))
        .containsExactly(90L, 80L, 70L, 60L, 50L, 40L, 30L, 20L, 10L);
  }

  @Test
  @DisplayName("keeps a watcher that catches up in time")
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
    assertThat(slow.received()).hasSize(11).endsWith("MODIFIED default/a@21");
  }

  @Test
  @DisplayName("sends a slow watcher the mark before it ends")
  void sendsASlowWatcherTheMarkBeforeItEnds() {
    // given one that is in the middle of what was there at the start
    fed.listed(10, object(1, "a", "1"), object(2, "b", "1"));
    var slow = FakeOutlet.withRoom(1);
    var watch = fed.watchWithBookmarks(ANY, slow);

    // when it becomes too slow, and then takes more
    for (int revision = 11; revision <= 21; revision++) {
      fed.put(revision, "c", "1");
    }
    fed.loop.advance(Duration.ofMillis(100));
    slow.takes(10);
    watch.resume();
    fed.loop.run();

    // then it gets so far that it can resume
    assertThat(slow.received()).containsExactly("ADDED default/a@1", "ADDED default/b@2",
        "SYNCED @10");
    assertThat(slow.ended()).isTrue();
    assertThat(fed.loop.pending()).isZero();
  }

  @ParameterizedTest(name = "window of {0}, {1}: {2}")
  @CsvSource({"100, NO_INDEX, 10", "750, NO_INDEX, 10", "751, NO_INDEX, 11",
      "102400, NO_INDEX, 100", "102400, USED, 10", "3200, UNUSED, 43", "102400, UNUSED, 1000"})
  void letsAboutASecondOfEventsWait(int window, Trigger trigger, int size) {
    assertThat(WatchCacheSettings.Buffers.DEFAULT.size(window, trigger)).isEqualTo(size);
  }

  @Test
  @DisplayName("keeps nothing of a watcher that is gone, whichever way it went")
  void keepsNothingOfAWatcherThatIsGone() {
    fed.listed(10);
    // when one is cancelled, twice; one expires; one is too slow; one fails; one is ended by us
    var watch = fed.watchWithBookmarks(new After(10), outlet);
    watch.cancel();
    watch.cancel();
    fed.watch(new CacheWatcher.Request(new After(10), TestValues.ALL_OBJECTS, Bookmarks.WANTED,
        Duration.ofSeconds(5)), FakeOutlet.quick());
    fed.watchWithBookmarks(new After(10), FakeOutlet.withRoom(0));
    fed.watchWithBookmarks(new After(3), FakeOutlet.quick());
    for (int revision = 11; revision <= 21; revision++) {
      fed.put(revision, "a", "1");
    }
    fed.loop.advance(Duration.ofSeconds(5));
    fed.watchWithBookmarks(new After(21), FakeOutlet.quick());
    fed.cache.endWatches();

    // then there is no watcher, and no clock
    assertThat(outlet.received()).isEmpty();
    assertThat(fed.cache.dispatcher().count()).isZero();
    assertThat(fed.loop.pending()).isZero();
  }

  @Test
  @DisplayName("leaves nothing behind after ten thousand watches")
  void leavesNothingBehindAfterTenThousandWatches() {
    fed.listed(10, object(9, "a", "1"));

    for (int i = 0; i < 10_000; i++) {
      var watch = fed.watchWithBookmarks(i % 2 == 0 ? ANY : new After(10 + i / 10),
          i % 3 == 0 ? FakeOutlet.withRoom(0) : FakeOutlet.quick());
      if (i % 10 == 0) {
        fed.put(11 + i / 10, "a", "1");
      }
      watch.cancel();
    }
    fed.loop.run();

    assertThat(fed.cache.dispatcher().count()).isZero();
    assertThat(fed.cache.waiting()).isZero();
    assertThat(fed.loop.pending()).isZero();
  }

  @Test
  @DisplayName("ends all watches when the cache begins again")
  void endsAllWatchesWhenItBeginsAgain() {
    fed.listed(10);
    fed.put(12, "a", "1");
    fed.watch(new After(10), outlet);

    fed.listed(20, object(18, "b", "1"));

    assertThat(outlet.ended()).isTrue();
    assertThat(outlet.received()).containsExactly("ADDED default/a@12");
    assertThat(fed.cache.dispatcher().count()).isZero();
  }

  @Test
  @DisplayName("ends a watch of an earlier state without events")
  void endsAWatchEmptyThatWasRequestedOfAnEarlierState() {
    // given one that waits for a version
    fed.listed(10).writtenElsewhere(15);
    fed.watch(new Snapshot(new Freshness.Newest()), outlet);

    // when the cache begins anew with that version
    fed.listed(20, object(18, "b", "1"));

    // then it has to ask again
    assertThat(outlet.received()).isEmpty();
    assertThat(outlet.ended()).isTrue();
  }
}
