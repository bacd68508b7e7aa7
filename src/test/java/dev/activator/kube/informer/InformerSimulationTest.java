package dev.activator.kube.informer;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.informer.InformerHandler.InformerHandlerOptions;
import dev.activator.kube.informer.InformerNotification.Deleted;
import dev.activator.loop.Loop;
import dev.activator.testing.Seeds;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** An API that changes at random, and listeners of all kinds that come and go. */
class InformerSimulationTest {
  private static final int KEYS = 12;

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final Informer<String> informer = new Informer<>("things", loop, ofSeconds(3),
      (_, seen) -> seen);
  private final List<Party> parties = new ArrayList<>();
  /** What the API holds. */
  private final TreeMap<String, VersionedObject<String>> world = new TreeMap<>();
  /** What of it was put into the sink; only of that a deletion is. */
  private final TreeMap<String, VersionedObject<String>> shown = new TreeMap<>();
  private Random random = new Random();
  private int version;

  @Test
  void reportsToEachListenerOnlyWhatHolds_andInTheEndAllOfIt() {
    Seeds.each(seed -> new InformerSimulationTest()
        .reportsToEachListenerOnlyWhatHolds_andInTheEndAllOfIt(seed));
  }

  private void reportsToEachListenerOnlyWhatHolds_andInTheEndAllOfIt(long seed) {
    random = new Random(seed);
    informer.store().addIndex("content", now -> List.of(now.object()));
    int startAt = random.nextInt(10);

    for (int step = 0; step < 100; step++) {
      if (step == startAt) {
        informer.start();
      }
      doSomething();
      if (random.nextBoolean()) {
        loop.advance(ofMillis(random.nextInt(900)));
      }
      parties.forEach(Party::isFine);
    }
    comeToRest();

    assertThat(stored()).isEqualTo(world);
    parties.forEach(Party::isFine);
    parties.stream().filter(party -> !party.removed).forEach(Party::knowsTheWorld);
    assertThat(informer.view().failures()).isZero();
    assertThat(informer.view().queued()).isZero();
  }

  private void doSomething() {
    switch (random.nextInt(20)) {
      case 0, 1 -> relist();
      case 2 -> parties.add(new Party());
      case 3 -> leave();
      case 4, 5 -> changeUnseen();
      default -> change();
    }
  }

  /** The sink is shown what happens. */
  private void change() {
    var key = "k" + random.nextInt(KEYS);
    if (random.nextInt(4) > 0) {
      shown.put(key, write(key));
      informer.sink().put(world.get(key));
      return;
    }
    world.remove(key);
    var last = shown.remove(key);
    if (last != null) {
      informer.sink()
          .remove(new VersionedObject<>(key, last.uid(), Integer.toString(++version), "end"));
    }
  }

  /** Something happens while nobody watches: the next list shows it. */
  private void changeUnseen() {
    for (int i = random.nextInt(4); i >= 0; i--) {
      var key = "k" + random.nextInt(KEYS);
      if (random.nextBoolean()) {
        world.remove(key);
      } else {
        write(key);
      }
    }
    relist();
  }

  private void relist() {
    shown.clear();
    shown.putAll(world);
    informer.sink().replace(List.copyOf(world.values()));
  }

  /** Now and then it is another object of the same name. */
  private VersionedObject<String> write(String key) {
    var before = world.get(key);
    int now = ++version;
    var uid = before == null || random.nextInt(5) == 0 ? "uid-" + now : before.uid();
    var written = new VersionedObject<>(key, uid, Integer.toString(now), "c" + now % 7);
    world.put(key, written);
    return written;
  }

  private void leave() {
    if (!parties.isEmpty()) {
      parties.get(random.nextInt(parties.size())).leave();
    }
  }

  /** A handler that fails waits a second each time; nobody has more than some hundreds to hear. */
  private void comeToRest() {
    relist();
    loop.advance(ofSeconds(3));
    parties.forEach(party -> party.resting = true);
    loop.advance(ofSeconds(600));
  }

  private Map<String, VersionedObject<String>> stored() {
    var stored = new TreeMap<String, VersionedObject<String>>();
    for (var content : informer.store().values("content")) {
      informer.store().by("content", content).forEach(now -> stored.put(now.key(), now));
    }
    assertThat(informer.store().all())
        .containsExactlyInAnyOrderElementsOf(stored.values());
    return stored;
  }

  /** One that listens: quick or slow, failing or not. */
  private final class Party {
    private final InformerHandlerOptions listening = listening();
    private final Witness witness = new Witness(
        listening.resynced()
            ? Witness.Repeats.EXPECTED
            : Witness.Repeats.WRONG);
    private final int failsOneIn = random.nextInt(3) == 0 ? 2 + random.nextInt(5) : 0;
    private final List<AssertionError> lies = new ArrayList<>();
    private final InformerHandlerRegistration registration = informer.addHandler(this::hear,
        listening);
    private boolean removed;
    private boolean resting;

    private InformerHandlerOptions listening() {
      return new InformerHandlerOptions("party " + parties.size(), loop(), random.nextInt(3) == 0);
    }

    private Loop loop() {
      return random.nextBoolean() ? loop : new SlowLoop(loop, ofMillis(random.nextInt(5_000)));
    }

    private void hear(InformerNotification<String> notification) {
      try {
        assertThat(removed).as("told after its removal").isFalse();
        witness.on(notification);
        storeIsNotOlderThan(notification);
      } catch (AssertionError lie) {
        lies.add(lie);
      }
      if (failsOneIn > 0 && !resting && random.nextInt(failsOneIn) == 0) {
        throw new HeardButFailed();
      }
    }

    private void storeIsNotOlderThan(InformerNotification<String> notification) {
      var stored = informer.store().find(notification.key());
      int received = switch (notification) {
        case InformerNotification.Added<String>(var now) -> Integer.parseInt(now.resourceVersion());
        case InformerNotification.Updated<String>(_, var now) ->
          Integer.parseInt(now.resourceVersion());
        case Deleted<String>(_, var last, _) -> Integer.parseInt(last.resourceVersion());
      };
      assertThat(stored == null ? received : Integer.parseInt(stored.resourceVersion()))
          .isGreaterThanOrEqualTo(received);
    }

    void leave() {
      removed = true;
      registration.close();
    }

    void isFine() {
      assertThat(lies).isEmpty();
      assertThat(registration.view().pending()).isLessThanOrEqualTo(KEYS);
    }

    void knowsTheWorld() {
      assertThat(witness.there()).isEqualTo(world);
      assertThat(registration.hasSynced()).isTrue();
      if (!listening.resynced()) {
        assertThat(registration.view().pending()).isZero();
      } else if (!world.isEmpty()) {
        assertThat(witness.repeated()).isPositive();
      }
    }
  }

  /** It did its work, and now it costs a second. */
  @SuppressWarnings("serial")
  private static final class HeardButFailed extends RuntimeException {
    HeardButFailed() {
      super("on purpose", null, false, false);
    }
  }

  /** A loop that takes its time, so that much waits. */
  private record SlowLoop(VirtualLoop loop, Duration pause) implements Loop {
    @Override
    public void execute(Runnable task) {
      loop.schedule(pause, task);
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
      return loop.schedule(delay, task);
    }

    @Override
    public long nanoTime() {
      return loop.nanoTime();
    }
  }
}
