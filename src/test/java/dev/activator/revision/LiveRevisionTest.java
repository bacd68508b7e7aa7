package dev.activator.revision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.testing.VirtualLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LiveRevisionTest {
  private static final RevisionId ID = new RevisionId("ns", "rev");

  private final VirtualLoop loop = new VirtualLoop();
  private final LiveRevisions revisions = new LiveRevisions(_ -> loop);
  private final List<String> ended = new ArrayList<>();

  private static Revision revision(String uid, int containerConcurrency) {
    return new Revision(ID, uid, PortProtocol.HTTP1, containerConcurrency, RequestTimeouts.DEFAULT,
        true, null, Map.of(), Map.of(), null);
  }

  private Slot<String> slot(String name) {
    return revisions.declare(name, now -> name + " of " + now.uid(), ended::add);
  }

  @Test
  void aChangeOfTheSpecKeepsTheRevisionAndItsValues() {
    var slot = slot("a");
    var live = revisions.update(revision("1", 1));
    assertThat(live.slot(slot)).isEqualTo("a of 1");

    assertThat(revisions.update(revision("1", 2))).isSameAs(live).isSameAs(revisions.find(ID));

    assertThat(live.spec().containerConcurrency()).isEqualTo(2);
    assertThat(live.peek(slot)).isEqualTo("a of 1");
    assertThat(live.loop()).isSameAs(loop);
    assertThat(ended).isEmpty();
  }

  @Test
  void aValueIsMadeByItsFirstUseOnly() {
    var made = new AtomicInteger();
    var slot = revisions.declare("count", _ -> made.incrementAndGet());
    var live = revisions.update(revision("1", 1));

    assertThat(live.peek(slot)).isNull();
    assertThat(revisions.all(slot)).isEmpty();
    assertThat(live.slot(slot)).isEqualTo(1);
    assertThat(revisions.slot(ID, slot)).isEqualTo(1);
    assertThat(revisions.peek(ID, slot)).isEqualTo(1);
    assertThat(revisions.all(slot)).containsExactly(1);
  }

  @Test
  void valuesThatWereMadeEndOnceWithTheLastDeclaredFirst() {
    var first = slot("first");
    slot("unused");
    var last = slot("last");
    var live = revisions.update(revision("1", 1));
    // Declared after the revision began, and made before the others.
    var late = slot("late");
    live.slot(late);
    live.slot(first);
    live.slot(last);

    revisions.end(ID);
    revisions.end(ID);

    assertThat(ended).containsExactly("late of 1", "last of 1", "first of 1");
    assertThat(revisions.find(ID)).isNull();
  }

  @Test
  void noValueOfAnEndedRevisionExistsOrIsMade() {
    var made = slot("made");
    var other = slot("other");
    var live = revisions.update(revision("1", 1));
    live.slot(made);

    revisions.end(ID);

    assertThat(live.slot(made)).isNull();
    assertThat(live.peek(made)).isNull();
    assertThat(live.slot(other)).isNull();
    assertThat(revisions.slot(ID, other)).isNull();
    assertThat(ended).containsExactly("made of 1");
  }

  @Test
  void anotherUidEndsTheRevisionBefore() {
    var slot = slot("a");
    var before = revisions.update(revision("1", 1));
    before.slot(slot);

    var after = revisions.update(revision("2", 1));

    assertThat(ended).containsExactly("a of 1");
    assertThat(before.slot(slot)).isNull();
    assertThat(before.uid()).isEqualTo("1");
    assertThat(after.slot(slot)).isEqualTo("a of 2");
    assertThat(revisions.all()).containsExactly(after);
  }

  @Test
  void aMakerMayUseOtherSlots() {
    var inner = slot("inner");
    var outer = revisions.declare("outer", now -> "outer with " + now.slot(inner));
    var live = revisions.update(revision("1", 1));

    assertThat(live.slot(outer)).isEqualTo("outer with inner of 1");
    assertThat(live.peek(inner)).isEqualTo("inner of 1");
  }

  @Test
  void aMakerThatFailsIsCalledAgain() {
    var fails = new boolean[]{true};
    var slot = revisions.declare("fragile", _ -> {
      if (fails[0]) {
        throw new IllegalStateException("a bug");
      }
      return "made";
    }, ended::add);
    var live = revisions.update(revision("1", 1));
    assertThatThrownBy(() -> live.slot(slot)).hasMessage("a bug");

    fails[0] = false;
    assertThat(live.slot(slot)).isEqualTo("made");
  }

  @Test
  void anEndThatFailsKeepsNoOtherFromEnding() {
    var first = slot("first");
    var fragile = revisions.declare("fragile", _ -> "", _ -> {
      throw new IllegalStateException("a bug");
    });
    var live = revisions.update(revision("1", 1));
    live.slot(first);
    live.slot(fragile);

    revisions.end(ID);

    assertThat(ended).containsExactly("first of 1");
  }

  /** Many threads ask while the revision ends: each value is made once, and each one made ends. */
  @Test
  void aValueIsMadeAtMostOnceAndEndedIfItWas_whateverRunsAtOnce() throws Exception {
    var made = new AtomicInteger();
    var over = new AtomicInteger();
    var slots = IntStream.range(0, 8).mapToObj(i -> revisions.declare("slot " + i,
        _ -> made.incrementAndGet(), _ -> over.incrementAndGet())).toList();
    try (var threads = Executors.newFixedThreadPool(5)) {
      for (int round = 0; round < 2_000; round++) {
        made.set(0);
        over.set(0);
        var live = revisions.update(revision("" + round, 1));
        var go = new CountDownLatch(1);
        var all = new ArrayList<Future<?>>();
        for (int thread = 0; thread < 4; thread++) {
          all.add(threads.submit(() -> {
            go.await();
            for (var slot : slots) {
              var value = live.slot(slot);
              assertThat(value == null || value <= slots.size()).isTrue();
            }
            return null;
          }));
        }
        all.add(threads.submit(() -> {
          go.await();
          revisions.end(ID);
          return null;
        }));
        go.countDown();
        for (var task : all) {
          task.get();
        }

        assertThat(made.get()).isLessThanOrEqualTo(slots.size()).isEqualTo(over.get());
        assertThat(slots).allMatch(slot -> live.slot(slot) == null);
      }
    }
  }

  @Test
  void aRevisionThatEndsWhileAValueIsMadeEndsThatValue() throws Exception {
    var making = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    var slot = revisions.declare("slow", _ -> {
      making.countDown();
      try {
        goOn.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return "slow";
    }, ended::add);
    var live = revisions.update(revision("1", 1));
    var maker = new Thread(() -> live.slot(slot));
    maker.start();
    making.await();
    var end = new Thread(() -> revisions.end(ID));
    end.start();
    // Until it waits for the maker.
    while (end.getState() != Thread.State.BLOCKED) {
      Thread.onSpinWait();
    }
    assertThat(revisions.find(ID)).isNull();

    goOn.countDown();
    maker.join();
    end.join();

    assertThat(ended).containsExactly("slow");
    assertThat(live.slot(slot)).isNull();
  }
}
