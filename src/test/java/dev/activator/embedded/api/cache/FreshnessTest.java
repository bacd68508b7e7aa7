package dev.activator.embedded.api.cache;

import static dev.activator.embedded.api.cache.FedCache.object;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.policy.ReadParameters.Freshness.AtLeast;
import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Reads that need a state of some age, and what they wait for. */
class FreshnessTest {
  private final FedCache fed = new FedCache(Windows.of(3));
  private final FakeOutlet outlet = FakeOutlet.quick();

  @Test
  @DisplayName("reads at once what is new enough")
  void readsAtOnceWhatIsNewEnough() {
    fed.listed(10, object(5, "a", "1"));

    var read = fed.read(new AtLeast(10));

    assertThat(read.received()).containsExactly("@10 [default/a@5]");
    assertThat(fed.loop.pending()).isZero();
  }

  @Test
  @DisplayName("waits until it is new enough")
  void waitsUntilItIsNewEnough() {
    fed.listed(10);
    var read = fed.read(new AtLeast(11));

    fed.loop.advance(Duration.ofSeconds(1));
    assertThat(read.received()).isEmpty();
    fed.put(11, "a", "1");

    assertThat(read.received()).containsExactly("@11 [default/a@11]");
    assertThat(fed.loop.pending()).isZero();
  }

  @Test
  @DisplayName("gives up on a version that does not come after three seconds")
  void givesUpOnAVersionThatDoesNotCome() {
    fed.listed(10);
    var read = fed.read(new AtLeast(15));

    fed.loop.advance(Duration.ofMillis(2_999));
    fed.put(11, "a", "1");
    assertThat(read.received()).isEmpty();
    fed.loop.advance(Duration.ofMillis(1));

    assertThat(read.received())
        .containsExactly("504 Timeout: Too large resource version: 15, current: 11");
    assertThat(fed.cache.waiting()).isZero();
  }

  @Test
  @DisplayName("keeps nothing of a read that was cancelled")
  void keepsNothingOfACancelledRead() {
    // given many that wait for the same version, and one for another
    fed.listed(10);
    var reads = LongStream.range(0, 100).mapToObj(_ -> fed.read(new AtLeast(12))).toList();
    var other = fed.read(new AtLeast(13));
    assertThat(fed.cache.waiting()).isEqualTo(101);

    // when those go away, twice
    reads.forEach(FakeReader::cancel);
    reads.forEach(FakeReader::cancel);
    fed.loop.run();

    // then the other alone waits, with one clock, and they are told nothing
    assertThat(fed.cache.waiting()).isEqualTo(1);
    assertThat(fed.loop.pending()).isEqualTo(1);
    fed.put(13, "a", "1");
    assertThat(other.received()).containsExactly("@13 [default/a@13]");
    assertThat(reads).allMatch(read -> read.received().isEmpty());
    assertThat(fed.loop.pending()).isZero();
  }

  @Test
  @DisplayName("keeps nothing of a read that was given up before it began")
  void keepsNothingOfAReadThatWasGivenUpBeforeItBegan() {
    fed.listed(10);

    fed.cache.read(new AtLeast(12)).cancel(false);
    fed.loop.run();

    // The order of both is that of the calls: it begins, then leaves.
    assertThat(fed.cache.waiting()).isZero();
    assertThat(fed.loop.pending()).isZero();
  }

  @Test
  @DisplayName("keeps nothing of a watch whose client left while it waited")
  void keepsNothingOfAWatchWhoseClientLeftWhileItWaited() {
    fed.listed(9).writtenElsewhere(12);
    var watch = fed.watch(new WatchStart.Snapshot(new Freshness.Newest()), outlet);
    assertThat(fed.cache.waiting()).isEqualTo(1);

    watch.cancel();
    fed.loop.run();

    assertThat(fed.cache.waiting()).isZero();
    assertThat(fed.loop.pending()).isZero();
    assertThat(outlet.received()).isEmpty();
  }

  @Test
  @DisplayName("answers with the version of the cache, not with the requested one")
  void answersWithTheVersionOfTheCache() {
    fed.listed(9, object(4, "a", "1"));

    assertThat(fed.read(new AtLeast(5)).received()).containsExactly("@9 [default/a@4]");
  }

  @Test
  @DisplayName("learns from a write elsewhere that it is up to date")
  void learnsFromOtherKindsHowNewItIs() {
    // given a write elsewhere of which the cache has not heard
    fed.listed(10).writtenElsewhere(11);
    var read = fed.read(new Freshness.Newest());
    assertThat(read.received()).isEmpty();

    // when it hears of it
    fed.elsewhere(11);

    // then it knows that it is up to date, and has no more events than before
    assertThat(read.received()).containsExactly("@11 []");
    assertThat(fed.cache.window().size()).isZero();
  }

  @Test
  @DisplayName("shows everyone what they wrote, ten thousand times, while the feed is 50 ms late")
  void showsEveryoneWhatTheyWrote() {
    fed.listed(10);
    var missed = new ArrayList<Long>();
    for (long revision = 11; revision <= 10_010; revision++) {
      // given a write that the cache hears of 50 ms later
      long written = revision;
      fed.writtenElsewhere(written);
      fed.loop.schedule(Duration.ofMillis(50), () -> fed.put(written, "o", "1"));

      // when the writer lists
      var read = fed.read(new Freshness.Newest());
      fed.loop.advance(Duration.ofMillis(50));

      // then its write is there
      if (!read.received().equals(List.of("@%d [default/o@%d]".formatted(written, written)))) {
        missed.add(written);
      }
    }
    assertThat(missed).isEmpty();
  }

  @Test
  @DisplayName("reads the state of an older version")
  void readsTheStateOfAnOlderVersion() {
    fed.listed(10, object(5, "a", "1")).put(12, "b", "1").delete(14, "a");

    assertThat(fed.read(new Freshness.Exactly(13)).received())
        .containsExactly("@13 [default/a@5, default/b@12]");
    assertThat(fed.read(new Freshness.Exactly(9)).received())
        .containsExactly("410 The resourceVersion for the provided list is too old.");
  }

  @Test
  @DisplayName("waits for the exact state of a version to come, then gives up")
  void waitsForTheExactStateOfAVersionToCome() {
    fed.listed(10);
    var soon = fed.read(new Freshness.Exactly(11));
    var never = fed.read(new Freshness.Exactly(20));

    fed.put(11, "a", "1").put(12, "b", "1");
    fed.loop.advance(Duration.ofSeconds(3));

    assertThat(soon.received()).containsExactly("@11 [default/a@11]");
    assertThat(never.received())
        .containsExactly("504 Timeout: Too large resource version: 20, current: 12");
  }
}
