package dev.activator.embedded.api.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.embedded.api.cache.WatchCacheSettings.Capacity;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.BuiltInKinds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class WatchEventWindowTest {
  @Test
  @DisplayName("keeps the last events under indices that only grow")
  void keepsTheLastEventsUnderIndicesThatOnlyGrow() {
    // given room for three
    var window = window(Windows.fixed(3));

    // when five come
    LongStream.rangeClosed(11, 15).forEach(revision -> window.append(event(revision, 0)));

    // then the last three are there, and the indices tell that two are gone
    assertThat(window.start()).isEqualTo(2);
    assertThat(window.end()).isEqualTo(5);
    assertThat(revisions(window)).containsExactly(13L, 14L, 15L);
    // and they lie in the places of 14, 15 and 13
    assertThat(LongStream.range(2, 5).mapToObj(window::slot)).containsExactly(2, 0, 1);
  }

  @Test
  @DisplayName("reads right long after the indices passed its capacity")
  void readsRightLongAfterTheIndicesPassedItsCapacity() {
    var window = window(Windows.fixed(7));

    LongStream.rangeClosed(1, 10_000).forEach(revision -> window.append(event(10 + revision, 0)));

    assertThat(revisions(window)).containsExactly(10_004L, 10_005L, 10_006L, 10_007L, 10_008L,
        10_009L, 10_010L);
    assertThat(window.firstAfter(10_006)).isEqualTo(window.start() + 3);
  }

  @Test
  @DisplayName("refuses a revision that is not newer")
  void refusesARevisionThatIsNotNewer() {
    var window = window(Windows.fixed(3));
    window.append(event(11, 0));

    assertThatThrownBy(() -> window.append(event(11, 0))).isInstanceOf(IllegalStateException.class);
    assertThat(revisions(window)).containsExactly(11L);
  }

  @Test
  @DisplayName("grows while its oldest event is fresh, and shrinks when a quarter would do")
  void growsWhileItsOldestEventIsFreshAndShrinksWhenAQuarterWouldDo() {
    // given a window that starts with 100 places
    var window = window(Capacity.DYNAMIC);

    // when 101 events come within a second
    LongStream.rangeClosed(1, 101)
        .forEach(i -> window.append(event(10 + i, Duration.ofMillis(i).toNanos())));

    // then it has doubled, and nothing is lost
    assertThat(window.capacity()).isEqualTo(200);
    assertThat(revisions(window)).hasSize(101).startsWith(11L).endsWith(111L);

    // when one comes every ten seconds from then on
    LongStream.rangeClosed(1, 100)
        .forEach(i -> window.append(event(111 + i, Duration.ofSeconds(10 * i).toNanos())));

    // then at the first that finds it full, the newest 50 are 500 seconds old: it halves, once
    assertThat(window.capacity()).isEqualTo(100);
    assertThat(revisions(window)).startsWith(112L).endsWith(211L);
  }

  @Test
  @DisplayName("shrinks step by step, and keeps the newest")
  void shrinksStepByStep() {
    // given a window that grew to 800 places for the 401 events of a second
    var window = window(Capacity.DYNAMIC);
    LongStream.rangeClosed(1, 401)
        .forEach(i -> window.append(event(10 + i, Duration.ofMillis(i).toNanos())));
    assertThat(window.capacity()).isEqualTo(800);
    assertThat(revisions(window)).hasSize(401);

    // when one comes every ten seconds
    var sizes = new ArrayList<Integer>();
    LongStream.rangeClosed(1, 500).forEach(i -> {
      window.append(event(411 + i, Duration.ofSeconds(10 * i).toNanos()));
      sizes.add(window.capacity());
      // then whatever it holds are the newest, without a gap
      assertThat(revisions(window))
          .isEqualTo(LongStream.rangeClosed(411 + i - window.size() + 1, 411 + i).boxed().toList());
    });

    // and it halves with each event that finds it full, to where it began
    assertThat(sizes.stream().distinct()).containsExactly(800, 400, 200, 100);
  }

  @Test
  @DisplayName("never grows beyond its bound")
  void neverGrowsBeyondItsBound() {
    var window = window(new Capacity(4, 10, Duration.ofSeconds(75)));

    LongStream.rangeClosed(1, 100).forEach(i -> window.append(event(10 + i, i)));

    assertThat(window.capacity()).isEqualTo(10);
    assertThat(revisions(window)).hasSize(10).startsWith(101L);
  }

  @Test
  @DisplayName("knows the objects after each of its events")
  void knowsTheObjectsAfterEachOfItsEvents() {
    // given a state and two events that each leave another
    var window = new WatchEventWindow(Windows.fixed(2));
    var listed = SortedObjects.EMPTY.withAll(List.of(object(5)));
    window.restart(listed, 10);
    var eleven = event(11, 0);
    var fourteen = event(14, 0);
    window.append(eleven);
    window.append(fourteen);

    // then each revision has the state of the last event before it
    assertThat(window.objectsAt(10)).isSameAs(listed);
    assertThat(window.objectsAt(13)).isSameAs(eleven.after());
    assertThat(window.objectsAt(20)).isSameAs(fourteen.after());

    // when the first event drops out
    window.append(event(15, 0));

    // then what was before it is not known any more
    assertThat(window.objectsAt(10)).isNull();
    assertThat(window.objectsAt(13)).isNull();
    assertThat(window.objectsAt(14)).isSameAs(fourteen.after());
  }

  private static WatchEventWindow window(Capacity capacity) {
    var window = new WatchEventWindow(capacity);
    window.restart(SortedObjects.EMPTY, 10);
    return window;
  }

  private static List<Long> revisions(WatchEventWindow window) {
    return LongStream.range(window.start(), window.end())
        .mapToObj(index -> window.at(index).revision()).toList();
  }

  private static WatchCacheEvent event(long revision, long atNanos) {
    var object = object(revision);
    return new WatchCacheEvent(ApiStoreChange.Type.ADDED, object, null,
        SortedObjects.EMPTY.withAll(List.of(object)),
        atNanos);
  }

  private static WatchCacheObject object(long revision) {
    return WatchCacheObject.of(BuiltInKinds.CONFIG_MAP,
        FedCache.object(revision, "o" + revision, "1"));
  }
}
