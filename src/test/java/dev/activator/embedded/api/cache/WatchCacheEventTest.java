package dev.activator.embedded.api.cache;

import static dev.activator.embedded.api.cache.FedCache.object;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.policy.ReadParameters.Freshness;
import dev.activator.embedded.api.policy.ReadParameters.WatchStart.After;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.testing.TestValues;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** What the cache makes of one change, and of a new beginning. */
class WatchCacheEventTest {
  private final FedCache fed = new FedCache(Windows.of(10));
  private final FakeOutlet outlet = FakeOutlet.quick();

  @Test
  @DisplayName("keeps what the object was before, with its labels")
  void keepsWhatTheObjectWasBefore() {
    fed.listed(5, object(5, "x", "1"));

    fed.put(7, "x", "2");

    var event = newest();
    assertThat(event.revision()).isEqualTo(7);
    assertThat(event.object().labels()).containsEntry("l", "2");
    assertThat(event.previous().labels()).containsEntry("l", "1");
    assertThat(event.previous().revision()).isEqualTo(5);
  }

  @Test
  @DisplayName("keeps the last state of what is deleted, and reports it with the version of the deletion")
  void keepsTheLastStateOfWhatIsDeleted() {
    fed.listed(5, object(5, "x", "1"));
    fed.watch(new After(5), outlet);

    fed.delete(9, "x");

    var event = newest();
    assertThat(event.type()).isEqualTo(ApiStoreChange.Type.DELETED);
    assertThat(event.revision()).isEqualTo(9);
    assertThat(event.previous().revision()).isEqualTo(5);
    assertThat(outlet.received()).containsExactly("DELETED default/x@9");
  }

  @Test
  @DisplayName("treats an added object that exists as changed, and ignores a deleted one that does not")
  void goesByWhatItHoldsNotByWhatItIsCalled() {
    fed.listed(5, object(5, "x", "1"));
    fed.watch(new After(5), outlet);

    apply(ApiStoreChange.Type.ADDED, object(6, "x", "2"));
    apply(ApiStoreChange.Type.DELETED, object(7, "y", "1"));

    assertThat(outlet.received()).containsExactly("MODIFIED default/x@6");
    assertThat(fed.read(new Freshness.Whatever()).received()).containsExactly("@7 [default/x@6]");
  }

  @Test
  @DisplayName("has stored an event before it reports it")
  void hasTakenAnEventInByTheTimeItReportsIt() {
    // given a watcher that reads the cache whenever it is told something
    fed.listed(5);
    var seen = new ArrayList<String>();
    fed.watch(new After(5), new Forwarding(outlet) {
      @Override
      public void send(WatchMessage signal) {
        super.send(signal);
        seen.addAll(fed.read(new Freshness.Whatever()).received());
      }
    });

    fed.put(6, "a", "1").put(8, "b", "1");

    assertThat(seen).containsExactly("@6 [default/a@6]", "@8 [default/a@6, default/b@8]");
  }

  @Test
  @DisplayName("changes nothing for an object that cannot be read")
  void changesNothingForAnObjectThatCannotBeRead() {
    // given a state, an event, and one who waits for the next
    fed.listed(5, object(5, "a", "1")).put(6, "b", "1");
    fed.watch(new After(5), outlet);
    var waiting = fed.read(new Freshness.AtLeast(7));
    var broken = object(7, "x", "1");
    ObjectMeta.of(broken).put("resourceVersion", "seven");

    // when an object comes that has no version
    assertThatThrownBy(() -> fed.cache
        .apply(new ApiStoreChange(ApiStoreChange.Type.ADDED, BuiltInKinds.CONFIG_MAP, broken, 7)))
        .isInstanceOf(NumberFormatException.class);

    // then all is as it was
    assertThat(fed.cache.window().size()).isEqualTo(1);
    assertThat(waiting.received()).isEmpty();
    assertThat(outlet.received()).containsExactly("ADDED default/b@6");
    assertThat(fed.read(new Freshness.Whatever()).received())
        .containsExactly("@6 [default/a@5, default/b@6]");
  }

  @Test
  @DisplayName("never goes back")
  void neverGoesBack() {
    fed.listed(5).put(8, "a", "1").elsewhere(9);

    assertThatThrownBy(() -> apply(ApiStoreChange.Type.ADDED, object(8, "b", "1")))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> fed.cache.replace(List.of(), 8))
        .isInstanceOf(IllegalStateException.class).hasMessageContaining("configmaps")
        .hasMessageContaining("9").hasMessageContaining("8");
    fed.cache.progress(7);

    assertThat(fed.read(new Freshness.Whatever()).received()).containsExactly("@9 [default/a@8]");
  }

  @Test
  @DisplayName("begins again with another state and no events")
  void beginsAgainWithAnotherStateAndNoEvents() {
    fed.listed(10).put(12, "o", "1").put(15, "o", "2");

    fed.listed(20, object(20, "a", "1"));

    fed.watch(new After(20), outlet);
    var old = FakeOutlet.quick();
    fed.watch(new After(19), old);
    assertThat(outlet.received()).isEmpty();
    assertThat(old.received()).containsExactly("410 too old resource version: 19 (20)");
    assertThat(fed.read(new Freshness.Whatever()).received()).containsExactly("@20 [default/a@20]");
  }

  @Test
  @DisplayName("sends no events of the new state in place of old ones")
  void neverShowsNewEventsInPlaceOfOldOnes() {
    // given a backlog that is half read
    fed.listed(10);
    for (int revision = 11; revision <= 14; revision++) {
      fed.put(revision, "a", "1");
    }
    var backlog = new InitialWatchEvents.Events(fed.cache.window(), TestValues.ALL_OBJECTS, 0);
    backlog.next();

    // when as many events follow on a new state as there were on the old
    fed.listed(20);
    for (int revision = 21; revision <= 24; revision++) {
      fed.put(revision, "b", "1");
    }

    // then the rest is lost, and known to be
    assertThat(backlog.next()).isNull();
    assertThat(backlog.lost()).isTrue();
  }

  @Test
  @DisplayName("wakes who waits for the version of a new state")
  void wakesWhoWaitsForTheVersionOfANewState() {
    fed.listed(10);
    var read = fed.read(new Freshness.AtLeast(20));

    fed.listed(20, object(18, "a", "1"));

    assertThat(read.received()).containsExactly("@20 [default/a@18]");
  }

  @Test
  @DisplayName("changes nothing for a listing with an object that has no name")
  void changesNothingForAListingThatCannotBeRead() {
    fed.listed(10, object(9, "a", "1")).put(12, "b", "1");
    fed.watch(new After(10), outlet);
    var nameless = Json.object();
    ObjectMeta.of(nameless).put("resourceVersion", "15");

    assertThatThrownBy(() -> fed.cache.replace(List.of(object(14, "c", "1"), nameless), 20))
        .isInstanceOf(IllegalArgumentException.class);

    assertThat(fed.read(new Freshness.Whatever()).received())
        .containsExactly("@12 [default/a@9, default/b@12]");
    assertThat(fed.cache.window().oldestRevision()).isEqualTo(10);
    assertThat(fed.cache.window().size()).isEqualTo(1);
    assertThat(outlet.ended()).isFalse();
  }

  @Test
  @DisplayName("is ready once a listing is in, and in the same moment")
  void isReadyOnceAListingIsIn() {
    // given one who waits, and looks whether the cache is ready when it is told
    fed.listed(10);
    var answers = new ArrayList<String>();
    fed.cache.read(new Freshness.AtLeast(20)).thenAccept(snapshot -> {
      fed.cache.requireReady();
      answers.add("ready at " + snapshot.revision());
    });
    fed.loop.run();
    fed.cache.takeDown();

    // when a listing that cannot be read comes, then one that can
    var nameless = Objects.named("");
    assertThatThrownBy(
        () -> fed.cache.replace(List.of(nameless), 20))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(fed.cache::requireReady).hasMessage("storage is (re)initializing");
    fed.listed(20);

    // then it became ready once
    assertThat(answers).containsExactly("ready at 20");
    fed.loop.advance(Duration.ofSeconds(5));
    assertThat(answers).hasSize(1);
  }

  private void apply(ApiStoreChange.Type type, ObjectNode object) {
    fed.cache
        .apply(
            new ApiStoreChange(type, BuiltInKinds.CONFIG_MAP, object, ObjectMeta.revision(object)));
  }

  private WatchCacheEvent newest() {
    var window = fed.cache.window();
    return window.at(window.end() - 1);
  }
}
