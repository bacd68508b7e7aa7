package dev.activator.embedded.api.cache;

import static dev.activator.embedded.api.cache.FedCache.labelled;
import static dev.activator.embedded.api.cache.FedCache.object;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart.After;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart.Now;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart.Snapshot;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart;
import dev.activator.testing.Seeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where a watch begins, and from which version on it can. */
class EventsSinceTest {
  private static final WatchStart ANY = new Snapshot(new Freshness.Whatever());

  private final FedCache fed = new FedCache(Windows.of(3));
  private final FakeOutlet outlet = FakeOutlet.quick();

  /** Each row: how many of the events 12, 15, 19, 23 came; the version asked; what is told. */
  @ParameterizedTest(name = "{0} events, after {1}: {2}")
  @CsvSource({"2, 8, 410 (10)", "2, 9, 410 (10)", "2, 10, 12 15", "2, 11, 12 15", "2, 12, 15",
      "2, 14, 15", "2, 15, -", "2, 23, -", "2, 30, -", "3, 8, 410 (10)", "3, 9, 410 (10)",
      "3, 10, 12 15 19", "3, 11, 12 15 19", "3, 12, 15 19", "3, 14, 15 19", "3, 15, 19",
      "3, 23, -", "3, 30, -", "4, 8, 410 (14)", "4, 9, 410 (14)", "4, 10, 410 (14)",
      "4, 11, 410 (14)", "4, 12, 410 (14)", "4, 13, 410 (14)", "4, 14, 15 19 23", "4, 15, 19 23",
      "4, 23, -", "4, 30, -"})
  void deliversWhatFollowsAVersionOrSaysThatItIsTooOld(int events, long after, String received) {
    // given a listing at 10 and room for three events
    fed.listed(10);
    List.of(12L, 15L, 19L, 23L).subList(0, events)
        .forEach(revision -> fed.put(revision, "o" + revision, "1"));

    // when someone watches from a version on
    fed.watch(new After(after), outlet);

    // then
    if (received.startsWith("410")) {
      assertThat(outlet.received())
          .containsExactly("410 too old resource version: " + after + " " + received.substring(4));
    } else {
      var expected = received.equals("-") ? List.<String>of() : List.of(received.split(" "));
      assertThat(outlet.received()).containsExactlyElementsOf(
          expected.stream().map(rv -> "ADDED default/o" + rv + "@" + rv).toList());
    }
  }

  @Test
  void answersEveryVersionWithAllThatFollowedOrNotAtAll() {
    Seeds
        .each(seed -> new EventsSinceTest().answersEveryVersionWithAllThatFollowedOrNotAtAll(seed));
  }

  private void answersEveryVersionWithAllThatFollowedOrNotAtAll(long seed) {
    // given a window of random size after random events, some of them of other kinds
    var random = new Random(seed);
    int room = 1 + random.nextInt(8);
    var cache = new FedCache(Windows.of(room)).listed(100);
    var history = new ArrayList<Long>();
    long revision = 100;
    for (int i = random.nextInt(20); i > 0; i--) {
      revision += 1 + random.nextInt(3);
      cache.put(revision, "o" + revision, "1");
      history.add(revision);
    }
    long listedAt = 100;
    long droppedUpTo = history.size() > room ? history.get(history.size() - room - 1) : 0;
    for (long after = 95; after <= revision + 3; after++) {
      // when someone watches from any version on
      var received = FakeOutlet.quick();
      cache.watch(new After(after), received);

      // then it is told all that followed, or refused because something is missing
      long asked = after;
      if (received.received().stream().anyMatch(line -> line.startsWith("410"))) {
        assertThat(asked < listedAt || asked < droppedUpTo || missingAfter(asked, room, history))
            .as("410 after %d", asked).isTrue();
      } else {
        assertThat(received.received()).containsExactlyElementsOf(history.stream()
            .filter(rv -> rv > asked).map(rv -> "ADDED default/o" + rv + "@" + rv).toList());
      }
    }
  }

  /** Whether the window cannot prove that nothing followed before its first event. */
  private static boolean missingAfter(long asked, int room, List<Long> history) {
    return history.size() > room && asked < history.get(history.size() - room) - 1;
  }

  @Test
  @DisplayName("takes the last version of all, without an event")
  void takesTheLastVersionOfAll() {
    fed.listed(10).put(12, "a", "1");

    fed.watch(new After(Long.MAX_VALUE), outlet);
    fed.put(13, "b", "1");

    assertThat(outlet.received()).isEmpty();
    assertThat(outlet.ended()).isFalse();
  }

  @Test
  @DisplayName("fails in the stream where it cannot know what is missing")
  void failsInTheStreamWhereItCannotKnowWhatIsMissing() {
    fed.listed(0);

    fed.watch(new After(5), outlet);

    assertThat(outlet.received()).containsExactly("500 the watch cache has no state to begin with");
  }

  @Test
  @DisplayName("skips what comes before a version of the future")
  void skipsWhatComesBeforeAVersionOfTheFuture() {
    fed.listed(10);
    fed.watch(new After(13), outlet);

    fed.put(12, "a", "1").put(14, "b", "1");

    assertThat(outlet.received()).containsExactly("ADDED default/b@14");
  }

  @Test
  @DisplayName("begins with what is there, in order, then goes on after it")
  void beginsWithWhatIsThereThenGoesOn() {
    // given objects with versions of their own, and an event that one watcher cannot take yet
    fed.listed(11, object(5, "b", "1"), object(9, "a", "1"));
    var stuck = FakeOutlet.withRoom(0);
    fed.watch(new After(11), stuck);
    for (int revision = 12; revision <= 22; revision++) {
      fed.put(revision, "c", "1");
    }

    // when someone watches from any state, and an object changes
    fed.watch(ANY, outlet);
    fed.loop.advance(Duration.ofSeconds(1));
    fed.put(23, "b", "2").delete(24, "a");

    // then what is told at the start is not told again
    assertThat(outlet.received()).containsExactly("ADDED default/a@9", "ADDED default/b@5",
        "ADDED default/c@22", "MODIFIED default/b@23", "DELETED default/a@24");
  }

  @Test
  @DisplayName("begins a watch of one name with that object alone")
  void beginsAWatchOfOneNameWithThatObjectAlone() {
    fed.listed(9, object(5, "a", "1"), object(6, "a-b", "1"), object(7, "b", "1"));

    fed.watch(ANY, FedCache.fielded("metadata.name=a"), outlet);
    fed.put(10, "b", "2").put(11, "a", "2");

    assertThat(outlet.received()).containsExactly("ADDED default/a@5", "MODIFIED default/a@11");
  }

  @Test
  @DisplayName("begins with nothing if only the future is wanted")
  void beginsWithNothingIfOnlyTheFutureIsWanted() {
    fed.listed(9, object(5, "a", "1"));

    fed.watch(new Now(new Freshness.Whatever()), outlet);
    fed.put(10, "a", "2");

    assertThat(outlet.received()).containsExactly("MODIFIED default/a@10");
  }

  @Test
  @DisplayName("ends a watcher whose backlog fell out of the window, without a gap")
  void endsAWatcherWhoseBacklogFellOutOfTheWindow() {
    // given a watcher that took a hundred of two hundred old events
    var wide = new FedCache(Windows.of(200));
    wide.listed(10);
    for (int revision = 11; revision <= 210; revision++) {
      wide.put(revision, "o" + revision, "1");
    }
    var slow = FakeOutlet.withRoom(100);
    var watch = wide.watch(new After(10), labelled("l=1"), slow);
    assertThat(slow.received()).hasSize(100);

    // when events that it does not see push the rest out
    for (int revision = 211; revision <= 360; revision++) {
      wide.put(revision, "x", "2");
    }
    slow.takes(1_000);
    watch.resume();
    wide.loop.run();

    // then it ends without a gap, and learns the truth when it asks again
    assertThat(slow.received()).hasSize(100).endsWith("ADDED default/o110@110");
    assertThat(slow.ended()).isTrue();
    assertThat(wide.cache.dispatcher().count()).isZero();
    wide.watch(new After(110), outlet);
    assertThat(outlet.received()).containsExactly("410 too old resource version: 110 (160)");
  }

  @Test
  void refusesWhatIsOlderThanACompaction() {
    fed.listed(10).put(11, "a", "1").elsewhere(14);

    FeedFaults.forget(fed.cache);

    fed.watch(new After(13), outlet);
    assertThat(outlet.received()).containsExactly("410 too old resource version: 13 (14)");
    assertThat(fed.read(new Freshness.Exactly(13)).received())
        .containsExactly("410 The resourceVersion for the provided list is too old.");
    assertThat(fed.read(new Freshness.Exactly(14)).received())
        .containsExactly("@14 [default/a@11]");
  }
}
