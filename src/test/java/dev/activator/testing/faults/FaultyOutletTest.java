package dev.activator.testing.faults;

import static dev.activator.embedded.api.Objects.named;
import static dev.activator.embedded.api.store.BuiltInKinds.CONFIG_MAP;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.cache.WatchCacheObject;
import dev.activator.embedded.api.cache.FakeOutlet;
import dev.activator.embedded.api.cache.WatchMessage;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.testing.VirtualLoop;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FaultyOutletTest {
  private final VirtualLoop loop = new VirtualLoop();
  private final UndoActions undoActions = new UndoActions();
  private final FakeOutlet client = FakeOutlet.quick();
  private final FaultyOutlet outlet = new FaultyOutlet(client, new FaultClock(loop, new Random(1)),
      undoActions);

  @Test
  void isRightAgainOnceItIsHealed() {
    // given a watch with faults that are still to come, and one that comes again and again
    outlet.arm(new Fault.Drop(2));
    outlet.arm(new Fault.EndWatch(When.afterEvents(2)));
    outlet.arm(new Fault.EndWatch(When.after(ofSeconds(5))));
    outlet.arm(new Fault.FrequentBookmarks(ofSeconds(1)));
    outlet.begin(null);
    var first = event("a", 1);
    outlet.send(first);

    // when it is healed
    undoActions.heal();
    loop.advance(ofSeconds(10));
    var second = event("b", 2);
    var third = event("c", 3);
    outlet.send(second);
    outlet.send(third);

    // then it goes on as if nothing had been
    assertThat(client.signals()).containsExactly(first, second, third);
  }

  @Test
  void handsOverWhatItHoldsBeforeABookmark() {
    outlet.arm(new Fault.Swap(1, Fault.Swap.Of.DIFFERENT_KEYS));
    outlet.begin(null);
    var held = event("a", 1);
    var bookmark = new WatchMessage.Bookmark(2, WatchMessage.Position.UNDER_WAY);

    outlet.send(held);
    outlet.send(bookmark);

    assertThat(client.signals()).containsExactly(held, bookmark);
  }

  @Test
  void handsOverWhatItHoldsWhenItIsHealed() {
    outlet.arm(new Fault.Swap(1, Fault.Swap.Of.ONE_KEY));
    outlet.begin(null);
    var held = event("a", 1);
    outlet.send(held);
    assertThat(client.signals()).isEmpty();

    undoActions.heal();
    loop.run();

    assertThat(client.signals()).containsExactly(held);
  }

  private static WatchMessage event(String name, long revision) {
    var object = named(name);
    ObjectMeta.of(object).put("resourceVersion", Long.toString(revision));
    return new WatchMessage.Changed(ApiStoreChange.Type.ADDED,
        WatchCacheObject.of(CONFIG_MAP, object));
  }
}
