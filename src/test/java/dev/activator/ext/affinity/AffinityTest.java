package dev.activator.ext.affinity;

import static dev.activator.ext.affinity.AffinityScene.SESSION;
import static dev.activator.ext.affinity.AffinityScene.WEB;
import static dev.activator.ext.affinity.AffinityScene.pod;
import static dev.activator.ext.affinity.AffinityScene.pods;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.Revision;
import dev.activator.testing.TestRevisions;
import dev.activator.observability.FakeRequest;
import dev.activator.observability.Meters;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Scrape;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AffinityTest {
  private static final int KEYS = 1_000;

  private static AffinityScene preferring(int concurrency) {
    return new AffinityScene(concurrency, "header", SESSION);
  }

  private static AffinityScene strict(int concurrency) {
    return new AffinityScene(concurrency, "header", SESSION, "mode", "strict");
  }

  private static AffinityScene rejecting() {
    return new AffinityScene(0, "header", SESSION, "mode", "strict", "on-pod-gone", "reject");
  }

  private static Map<String, Destination> podsOfKeys(AffinityScene scene) {
    var all = new HashMap<String, Destination>();
    IntStream.range(0, KEYS).mapToObj(i -> "session-" + i)
        .forEach(key -> all.put(key, scene.runsOn(key)));
    return all;
  }

  private static long differing(Map<String, Destination> before, Map<String, Destination> now) {
    return before.entrySet().stream()
        .filter(key -> !now.get(key.getKey()).equals(key.getValue())).count();
  }

  @ParameterizedTest
  @CsvSource({"prefer", "strict"})
  void onlyKeysOfRemovedPodsMove(String mode) {
    var scene = new AffinityScene(0, "header", SESSION, "mode", mode);
    scene.has(pods(10));
    var ten = podsOfKeys(scene);

    scene.has(pods(7));
    var seven = podsOfKeys(scene);
    scene.has(pods(10));
    var again = podsOfKeys(scene);

    long least = ten.values().stream().filter(Predicate.not(pods(7)::contains)).count();
    assertThat(differing(ten, seven)).isEqualTo(least);
    assertThat(differing(seven, again)).isEqualTo(least);
    // An even division would move 300 keys.
    assertThat(least).isLessThan(330);
  }

  @Test
  void aPreferredPodWithoutRoomPassesTheRequestOn() {
    var scene = preferring(1);
    scene.has(pods(2));
    var first = scene.request("a");

    var second = scene.request("a");

    assertThat(second.pod()).isNotNull().isNotEqualTo(first.pod());
    assertThat(scene.request("a").waits()).isTrue();
    assertThat(meters(scene)).contains("activator_affinity_requests_total{pod=\"own\"} 1.0",
        "activator_affinity_requests_total{pod=\"other\"} 1.0");
  }

  @Test
  void aStrictRequestWaitsForItsPod() {
    var scene = strict(1);
    scene.has(pods(2));
    var first = scene.request("a");

    var second = scene.request("a");

    assertThat(second.waits()).isTrue();
    var pod = first.pod();
    first.ends();
    assertThat(second.pod()).isEqualTo(pod);
  }

  @ParameterizedTest
  @CsvSource({"prefer", "strict"})
  void aKeyBelongsToThePodThatIssuedIt(String mode) {
    var scene = new AffinityScene(0, "header", SESSION, "mode", mode);
    scene.has(pods(1));
    for (int i = 0; i < 100; i++) {
      scene.begins("issued-" + i);
    }

    scene.has(pods(10));

    for (int i = 0; i < 100; i++) {
      assertThat(scene.runsOn("issued-" + i)).isEqualTo(pod(1));
    }
  }

  @Test
  void aKeyInACookieBelongsToThePodThatSetIt() {
    var scene = new AffinityScene(0, "cookie", "sid", "mode", "strict");
    scene.has(pods(1));
    var login = scene.request("");
    login.responds(302, "Set-Cookie", "sid=k%3D1; Path=/; HttpOnly");
    login.ends();
    scene.has(pods(10));

    var request = FakeRequest.of(scene.affinities, scene.loop, scene.revisions.of(WEB));
    request.headers.put("Cookie", "theme=dark; sid=k%3D1");

    assertThat(scene.request(request).pod()).isEqualTo(pod(1));
  }

  @Test
  void anErrorIssuesNoKey() {
    var scene = strict(0);
    scene.has(pods(1));
    var failed = scene.request("");
    failed.responds(404, SESSION, "a");
    failed.ends();

    assertThat(scene.affinities.keys()).isZero();
  }

  @Test
  void anotherPodTakesTheKeysOfOneThatIsGone() {
    var scene = strict(0);
    scene.has(pods(1));
    scene.begins("a");

    scene.has(List.of(pod(2)));

    assertThat(scene.runsOn("a")).isEqualTo(pod(2));
    assertThat(meters(scene)).contains("activator_affinity_lost_total{reason=\"pod-gone\"} 1.0");
  }

  @Test
  void requestsOfAPodThatIsGoneAreRejectedIfTheRuleSaysSo() {
    var scene = rejecting();
    scene.has(pods(1));
    // The response may be cut after this: the pod has issued the key all the same.
    scene.begins("a");

    scene.has(List.of(pod(2)));

    assertThat(scene.request("a").rejection).isEqualTo(new Rejection.PodGone(WEB));
    assertThat(scene.runsOn("never issued")).isEqualTo(pod(2));
    scene.has(List.of());
    assertThat(scene.request("a").rejection).isEqualTo(new Rejection.PodGone(WEB));
  }

  @Test
  void aRequestWaitsForAPodWhileThereIsNone() {
    var scene = rejecting();
    scene.has(List.of());
    var waiting = scene.request("never issued");
    assertThat(waiting.waits()).isTrue();

    scene.has(pods(3));

    assertThat(waiting.pod()).isNotNull().isEqualTo(scene.runsOn("never issued"));
  }

  @Test
  void keysOfAnotherRevisionAreUnknown() {
    var other = new AffinityScene(new RevisionId("shop", "other"), 0, "header", SESSION, "mode",
        "strict", "on-pod-gone", "reject");
    other.has(pods(1));
    other.begins("a");
    var scene = rejecting();
    scene.has(List.of(pod(2)));

    assertThat(scene.runsOn("a")).isEqualTo(pod(2));
  }

  @Test
  void keysOf64KibAreKeysLikeOthers() {
    var scene = strict(0);
    scene.has(pods(1));
    var large = "k".repeat(64 << 10);
    scene.begins(large + 1);
    scene.has(pods(10));

    assertThat(scene.runsOn(large + 1)).isEqualTo(pod(1));
    assertThat(IntStream.range(2, 50).mapToObj(i -> scene.runsOn(large + i)).distinct().count())
        .isGreaterThan(5);
  }

  @Test
  void remembersABoundedNumberOfKeys() {
    var scene = strict(0);
    scene.has(pods(1));
    var issuing = scene.request("");
    for (int i = 0; i < 3 * RevisionAffinity.MAX_KEYS; i++) {
      issuing.responds(200, SESSION, "issued-" + i);
    }
    issuing.ends();

    assertThat(scene.affinities.keys()).isEqualTo(RevisionAffinity.MAX_KEYS);
    assertThat(meters(scene))
        .contains("activator_affinity_lost_total{reason=\"evicted\"} 200000.0");
  }

  @Test
  void aChangedRuleAppliesToTheNextRequest() {
    var scene = strict(1);
    scene.has(pods(2));
    scene.request("a");
    assertThat(scene.request("a").waits()).isTrue();

    scene.changes(1, "header", "X-Other");

    var free = scene.request("b");
    assertThat(free.pod()).isNotNull();
  }

  @Test
  void theOtherRevisionOfAFallbackIssuesNoKeyHere() {
    var scene = strict(0);
    scene.has(pods(1));
    var redirected = scene.request("");

    redirected.request.fellBackTo(TestRevisions.alone(Revision.of(WEB.ofPort("spare"), 1)));
    redirected.responds(200, SESSION, "of another revision");
    redirected.ends();

    assertThat(scene.affinities.keys()).isZero();
  }

  @Test
  void aSessionBegunThroughAClusterIpIsNotGoneOncePodsAreAddressed() {
    var scene = rejecting();
    scene.throttler.onDestinations(new HealthyDestinations(WEB, new Destination("10.96.0.1", 80),
        DestinationSet.of(pods(1))));
    scene.loop.run();
    scene.begins("a");

    scene.has(pods(1));

    assertThat(scene.runsOn("a")).isEqualTo(pod(1));
  }

  @Test
  void aSpilledRequestDoesNotMoveItsSession() {
    var scene = preferring(1);
    scene.has(pods(1));
    scene.begins("a");
    scene.has(pods(2));
    var first = scene.request("a");
    var spilled = scene.request("a");
    assertThat(first.pod()).isEqualTo(pod(1));
    assertThat(spilled.pod()).isEqualTo(pod(2));

    spilled.responds(200, SESSION, "a");
    spilled.ends();
    first.ends();

    assertThat(scene.runsOn("a")).isEqualTo(pod(1));
  }

  @Test
  void aCallerWithTheActivatorsCookieIsServedAfterItsPodIsGone() {
    var scene = new AffinityScene(0, "cookie", "", "mode", "strict", "on-pod-gone", "reject");
    scene.has(pods(1));
    var first = scene.request("");
    first.request.responding(200);
    first.ends();
    var request = FakeRequest.of(scene.affinities, scene.loop, scene.revisions.of(WEB));
    request.headers.put("Cookie",
        first.request.responseHeaders.get("Set-Cookie").split(";")[0]);

    scene.has(List.of(pod(2)));

    assertThat(scene.request(request).pod()).isEqualTo(pod(2));
  }

  private static List<String> meters(AffinityScene scene) {
    var meters = new Meters();
    scene.counts.register(meters);
    return Scrape.of(meters, "activator_affinity");
  }
}
