package dev.activator.ext.affinity;

import static dev.activator.ext.affinity.AffinityScene.SESSION;
import static dev.activator.ext.affinity.AffinityScene.WEB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.affinity.AffinityScene.Asked;
import dev.activator.ext.affinity.policy.AffinityKey;
import dev.activator.ext.lending.PeerMessenger.PeerId;
import dev.activator.ext.lending.PeerMessage;
import dev.activator.ext.lending.PermitLending;
import dev.activator.revision.Destination;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.testing.Seeds;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two activators that lend each other permits, and strict requests at both while pods come and go. */
@Tag("simulation")
class TwoActivatorsAffinityTest {
  private static final int REQUESTS = 1_700;
  private static final int MAX_PODS = 8;
  private static final Duration DELAY = Duration.ofMillis(1);
  private static final List<PeerId> IDS = List.of(new PeerId("10.9.9.1", "a"),
      new PeerId("10.9.9.2", "b"));

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final List<PermitLending> lending = new ArrayList<>();
  private final List<AffinityScene> both = new ArrayList<>();
  private final List<Asked> running = new ArrayList<>();
  private final List<Asked> all = new ArrayList<>();
  private final Map<String, Destination> sessions = new HashMap<>();

  /** Whether notices arrive. */
  private boolean isLinked = true;

  private void start(int limit) {
    for (int side = 0; side < 2; side++) {
      int own = side;
      var its = new PermitLending(IDS.get(side).address());
      lending.add(its);
      its.start(loop, (_, message) -> {
        if (isLinked || !(message instanceof PeerMessage.Issued)) {
          loop.schedule(DELAY, () -> lending.get(1 - own).onReceived(IDS.get(own), message));
        }
      });
      var scene = new AffinityScene(WEB, loop, IDS.get(side).address(), its, its);
      scene.changes(limit, "header", SESSION, "mode", "strict");
      scene.onGranted = request -> check(scene, request);
      both.add(scene);
    }
    for (int side = 0; side < 2; side++) {
      lending.get(side).onActivators(Set.of("10.9.9.1", "10.9.9.2"));
      lending.get(side).onConnected(IDS.get(1 - side));
      both.get(side).throttler.onPublicAddresses(new PublicEndpointAddresses(WEB,
          List.of("10.9.9.1", "10.9.9.2"), List.of()));
    }
    pods(AffinityScene.pods(4));
    loop.advance(Duration.ofSeconds(3));
  }

  private void pods(Collection<Destination> now) {
    both.forEach(scene -> scene.has(now));
  }

  private void check(AffinityScene scene, Asked request) {
    running.add(request);
    var session = request.request.headers.get(SESSION);
    if (session != null) {
      var issuer = sessions.get(session);
      assertThat(request.pod()).as("pod of %s, issued by %s", session, issuer)
          .isEqualTo(issuer != null && scene.listed.contains(issuer)
              ? issuer
              : AffinityKey.of(session).first(scene.listed));
    }
  }

  @Test
  void aSessionThatBeganAtOneActivatorGoesToItsPodFromTheOther() {
    start(1);
    for (int i = 0; i < 50; i++) {
      var pod = both.get(i % 2).begins("session-" + i);
      sessions.put("session-" + i, pod);
      running.clear();
      loop.advance(Duration.ofMillis(10));

      var request = both.get(1 - i % 2).request("session-" + i);
      loop.advance(Duration.ofMillis(50));

      assertThat(request.pod()).isEqualTo(pod);
      request.ends();
      running.clear();
    }
  }

  /** The pod answers 404 then, and the client begins another session. */
  @Test
  void aSessionThatBeganWhileTheLinkWasLostGoesByItsOrderAtTheOther() {
    start(1);
    isLinked = false;
    for (int i = 0; i < 50; i++) {
      var session = "session-" + i;
      both.getFirst().begins(session);
      running.clear();
      loop.advance(Duration.ofMillis(10));
    }
    isLinked = true;
    loop.advance(Duration.ofSeconds(1));

    for (int i = 0; i < 50; i++) {
      var request = both.getLast().request("session-" + i);
      loop.advance(Duration.ofMillis(50));
      assertThat(request.pod()).isEqualTo(AffinityKey.of("session-" + i)
          .first(both.getLast().listed));
      request.ends();
      running.clear();
    }
  }

  @Test
  void noneOfAHundredThousandRequestsRunsAtAWrongPodNorAboveTheLimit() {
    Seeds.each(seed -> new TwoActivatorsAffinityTest().run(seed));
  }

  private void run(long seed) {
    var random = new Random(seed);
    int limit = List.of(1, 2, 5).get(random.nextInt(3));
    start(limit);
    for (int i = 0; i < REQUESTS; i++) {
      request(both.get(random.nextInt(2)), random);
      loop.advance(Duration.ofMillis(2 + random.nextInt(5)));
      running.stream().map(Asked::pod).distinct().forEach(pod -> assertThat(
          running.stream().filter(one -> pod.equals(one.pod())).count())
          .isLessThanOrEqualTo(limit));
      while (!running.isEmpty() && random.nextInt(8) < running.size()) {
        running.remove(random.nextInt(running.size())).ends();
      }
      if (random.nextInt(60) == 0) {
        changePods(random);
      }
    }
    for (int second = 0; second < 600 && all.stream().anyMatch(Asked::waits); second++) {
      while (!running.isEmpty()) {
        running.removeFirst().ends();
      }
      loop.advance(Duration.ofSeconds(1));
    }
    while (!running.isEmpty()) {
      running.removeFirst().ends();
    }
    assertThat(all).filteredOn(Asked::waits).isEmpty();
  }

  private void request(AffinityScene at, Random random) {
    var names = List.copyOf(sessions.keySet());
    if (names.isEmpty() || random.nextInt(10) == 0) {
      var session = "issued-" + sessions.size();
      var first = at.request("");
      all.add(first);
      if (first.pod() != null) {
        first.responds(200, SESSION, session);
        sessions.put(session, first.pod());
      }
      return;
    }
    boolean isOwn = random.nextInt(4) == 0;
    var session = isOwn ? "own-" + random.nextInt(50) : names.get(random.nextInt(names.size()));
    sessions.putIfAbsent(session, null);
    all.add(at.request(session));
  }

  private void changePods(Random random) {
    var now = new TreeSet<>(both.getFirst().listed);
    var pod = AffinityScene.pod(1 + random.nextInt(MAX_PODS));
    if (!now.remove(pod) || now.isEmpty()) {
      now.add(pod);
    }
    pods(now);
  }
}
