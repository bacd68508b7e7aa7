package dev.activator.ext.affinity;

import static dev.activator.ext.affinity.AffinityScene.SESSION;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.affinity.AffinityScene.Asked;
import dev.activator.ext.affinity.policy.AffinityKey;
import dev.activator.revision.Destination;
import dev.activator.testing.Seeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Strict requests while pods come, go and refuse connections: none runs at a wrong pod. */
@Tag("simulation")
class StrictAffinitySimulationTest {
  private static final int REQUESTS = 2_000;
  private static final int MAX_PODS = 12;

  private final List<Asked> running = new ArrayList<>();
  private final List<Asked> waiting = new ArrayList<>();
  /** The pod that issued a session; null for one that its caller has chosen. */
  private final Map<String, Destination> sessions = new HashMap<>();
  private int granted;
  private int rejected;

  @Test
  void noneOfAHundredThousandRequestsRunsAtAWrongPod() {
    Seeds.each(seed -> new StrictAffinitySimulationTest().run(seed));
  }

  private void run(long seed) {
    var random = new Random(seed);
    boolean rejects = seed % 2 == 0;
    var scene = new AffinityScene(List.of(0, 1, 3).get(random.nextInt(3)), "header", SESSION,
        "mode",
        "strict", "on-pod-gone", rejects ? "reject" : "another");
    scene.onGranted = request -> check(scene, request, rejects);
    scene.has(AffinityScene.pods(4));

    for (int i = 0; i < REQUESTS; i++) {
      request(scene, random);
      while (!running.isEmpty() && random.nextInt(20) < running.size()) {
        end(random);
      }
      if (random.nextInt(40) == 0) {
        changePods(scene, random);
      }
      scene.loop.advance(Duration.ofMillis(random.nextInt(20)));
    }
    scene.has(AffinityScene.pods(MAX_PODS));
    for (int second = 0; second < REQUESTS && waiting.stream().anyMatch(Asked::waits); second++) {
      while (!running.isEmpty()) {
        running.removeFirst().ends();
      }
      // Ejections end.
      scene.loop.advance(Duration.ofSeconds(1));
    }
    while (!running.isEmpty()) {
      running.removeFirst().ends();
    }

    assertThat(waiting).filteredOn(Asked::waits).isEmpty();
    assertThat(granted).isGreaterThan(REQUESTS / 2);
    assertThat(rejects || rejected == 0).isTrue();
  }

  private void request(AffinityScene scene, Random random) {
    if (random.nextInt(10) == 0) {
      var session = "issued-" + sessions.size();
      var first = scene.request("");
      if (first.pod() == null) {
        waiting.add(first);
        return;
      }
      first.responds(200, SESSION, session);
      sessions.put(session, first.pod());
    } else {
      var names = List.copyOf(sessions.keySet());
      var session = names.isEmpty() || random.nextInt(4) == 0
          ? "own-" + random.nextInt(100)
          : names.get(random.nextInt(names.size()));
      sessions.putIfAbsent(session, null);
      var request = scene.request(session);
      if (request.rejection == null) {
        waiting.add(request);
      } else {
        rejected++;
      }
    }
  }

  private void end(Random random) {
    var request = running.remove(random.nextInt(running.size()));
    if (random.nextInt(30) == 0) {
      request.retries();
    } else {
      request.ends();
    }
  }

  private static void changePods(AffinityScene scene, Random random) {
    var pods = new TreeSet<>(scene.listed);
    for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
      var pod = AffinityScene.pod(1 + random.nextInt(MAX_PODS));
      if (!pods.remove(pod)) {
        pods.add(pod);
      }
    }
    scene.has(pods);
  }

  private void check(AffinityScene scene, Asked request, boolean rejects) {
    running.add(request);
    granted++;
    var session = request.request.headers.get(SESSION);
    if (session == null) {
      return;
    }
    var issuer = sessions.get(session);
    var right = issuer != null && scene.listed.contains(issuer)
        ? issuer
        : AffinityKey.of(session).first(scene.listed);
    assertThat(request.pod()).as("pod of %s, issued by %s", session, issuer).isEqualTo(right);
    assertThat(rejects && issuer != null && !scene.listed.contains(issuer)).isFalse();
  }
}
