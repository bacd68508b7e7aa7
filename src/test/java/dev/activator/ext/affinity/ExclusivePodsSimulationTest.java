package dev.activator.ext.affinity;

import static dev.activator.ext.affinity.AffinityScene.SESSION;
import static dev.activator.ext.affinity.AffinityScene.WEB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.affinity.AffinityScene.Asked;
import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.PeerMessage;
import dev.activator.ext.lending.PermitLending;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.testing.Seeds;
import dev.activator.testing.VirtualLoop;
import dev.activator.testing.WithoutLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Three activators that lend each other whole pods, of which one is killed each five seconds and
 * another one starts: no two keys share a pod.
 */
@Tag("simulation")
@WithoutLog
class ExclusivePodsSimulationTest {
  private static final int KILLS = 6;
  private static final int MAX_PODS = 8;
  private static final Duration DELAY = Duration.ofMillis(1);

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final List<Activator> alive = new ArrayList<>();
  private final TreeSet<Integer> pods = new TreeSet<>();
  private Random random;
  private int started;
  private int limit;
  private int granted;

  private final class Activator {
    final PeerId id;
    final PermitLending lending;
    final AffinityScene scene;
    final List<Asked> running = new ArrayList<>();
    final List<Asked> all = new ArrayList<>();
    boolean isKilled;

    Activator() {
      started++;
      id = new PeerId("10.9.9." + started, "p" + started);
      lending = new PermitLending(id.address());
      lending.start(loop, (to, message) -> loop.schedule(DELAY, () -> deliver(to, message)));
      scene = new AffinityScene(WEB, loop, id.address(), lending, lending);
      scene.onGranted = this::runs;
    }

    private void deliver(PeerId to, PeerMessage message) {
      alive.stream().filter(other -> other.id.equals(to) && !isKilled).findFirst()
          .ifPresent(other -> other.lending.onReceived(id, message));
    }

    void runs(Asked request) {
      if (isKilled) {
        return;
      }
      granted++;
      running.add(request);
      var sharing = alive.stream().flatMap(one -> one.running.stream())
          .filter(one -> request.pod().equals(one.pod())).toList();
      var keys = sharing.stream().map(one -> one.request.headers.get(SESSION))
          .collect(Collectors.toSet());
      boolean hasItToItself = request.request.headers.containsKey(SESSION) || sharing.size() == 1;
      assertThat(keys).as("keys on %s", request.pod()).hasSize(1);
      assertThat(hasItToItself).isTrue();
      assertThat(limit == 0 || sharing.size() <= limit).isTrue();
      loop.schedule(Duration.ofMillis(random.nextInt(1_500)), () -> ends(request));
    }

    private void ends(Asked request) {
      if (!isKilled && running.remove(request)) {
        if (random.nextInt(40) == 0) {
          request.retries();
        } else {
          request.ends();
        }
      }
    }
  }

  @Test
  void noTwoKeysShareAPodWhileActivatorsAreKilled() {
    Seeds.each(seed -> new ExclusivePodsSimulationTest().run(seed));
  }

  private void run(long seed) {
    random = new Random(seed);
    limit = List.of(0, 1, 3).get(random.nextInt(3));
    for (int i = 0; i < 4; i++) {
      pods.add(1 + random.nextInt(MAX_PODS));
    }
    for (int i = 0; i < 3; i++) {
      start();
    }
    loop.advance(Duration.ofSeconds(3));

    for (int kill = 0; kill < KILLS; kill++) {
      requestsFor(Duration.ofSeconds(5));
      kill(alive.get(random.nextInt(alive.size())));
      start();
    }
    // All is calm: what waits gets a pod.
    loop.advance(Duration.ofMinutes(2));

    assertThat(alive).allSatisfy(
        one -> assertThat(one.all).filteredOn(Asked::waits).isEmpty());
    assertThat(granted).isGreaterThan(KILLS * 10);
  }

  private void requestsFor(Duration length) {
    for (long passed = 0; passed < length.toMillis();) {
      int pause = 1 + random.nextInt(100);
      passed += pause;
      var at = alive.get(random.nextInt(alive.size()));
      at.all.add(at.scene.request(random.nextInt(10) == 0 ? "" : "key-" + random.nextInt(8)));
      if (random.nextInt(50) == 0) {
        changePods();
      }
      loop.advance(Duration.ofMillis(pause));
    }
  }

  private void changePods() {
    int pod = 1 + random.nextInt(MAX_PODS);
    if (!pods.remove(pod) || pods.isEmpty()) {
      pods.add(pod);
    }
    for (var one : List.copyOf(alive)) {
      // Watches of the cluster are late.
      loop.schedule(Duration.ofMillis(random.nextInt(200)), () -> publishPods(one));
    }
  }

  private void publishPods(Activator to) {
    if (!to.isKilled) {
      to.scene.has(pods.stream().map(AffinityScene::pod).toList());
    }
  }

  private void start() {
    var next = new Activator();
    next.scene.changes(limit, "header", SESSION, "mode", "exclusive");
    var others = List.copyOf(alive);
    alive.add(next);
    publishActivators();
    publishPods(next);
    for (var other : others) {
      loop.schedule(Duration.ofMillis(random.nextInt(300)), () -> {
        if (!other.isKilled && !next.isKilled) {
          other.lending.onConnected(next.id);
          next.lending.onConnected(other.id);
        }
      });
    }
  }

  private void publishActivators() {
    for (var one : List.copyOf(alive)) {
      loop.schedule(Duration.ofMillis(random.nextInt(1_000)), () -> {
        if (!one.isKilled) {
          var addresses = alive.stream().map(other -> other.id.address()).sorted().toList();
          one.lending.onActivators(new TreeSet<>(addresses));
          one.scene.throttler
              .onPublicAddresses(new PublicEndpointAddresses(WEB, addresses, List.of()));
        }
      });
    }
  }

  private void kill(Activator killed) {
    killed.isKilled = true;
    killed.running.clear();
    alive.remove(killed);
    for (var one : alive) {
      loop.schedule(Duration.ofMillis(random.nextInt(1_000)),
          () -> one.lending.onDisconnected(killed.id));
      loop.schedule(Duration.ofMillis(1_000 + random.nextInt(4_000)),
          () -> one.lending.onEnded(killed.id));
    }
    publishActivators();
  }
}
