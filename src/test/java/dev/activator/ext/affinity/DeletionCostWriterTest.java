package dev.activator.ext.affinity;

import static dev.activator.ext.affinity.AffinityScene.SESSION;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.KubernetesSession;
import dev.activator.kube.reflector.ReflectorSettings;
import dev.activator.revision.RevisionId;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.LogLines;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The deletion costs of pods in a Kubernetes API, over HTTP. */
class DeletionCostWriterTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final String PODS = "api/v1/namespaces/shop/pods";
  private static final RevisionId WEB = AffinityScene.WEB;

  @AutoClose
  private final EmbeddedApi api = EmbeddedApi.start();
  @AutoClose
  private final KubernetesSession session = KubernetesSession.open(
      new ClusterAccess.At(URI.create(api.url())), ReflectorSettings.DEFAULT, new Random(1));
  private final AtomicLong now = new AtomicLong();
  private final DeletionCostWriter costs = new DeletionCostWriter(() -> session, _ -> "app=web",
      now::get);
  private final AffinityScene scene = new AffinityScene(0, "header", SESSION);

  private void pod(int number, String app) {
    send("POST", PODS, "{'metadata':{'name':'" + app + "-" + number + "','labels':{'app':'" + app
        + "'}},'spec':{'containers':[{'name':'c','image':'i'}]}}");
    send("PATCH", PODS + "/" + app + "-" + number + "/status",
        "{'status':{'podIP':'10.0.0." + number + "'}}");
  }

  private void send(String method, String path, String body) {
    var type = method.equals("PATCH") ? "application/merge-patch+json" : "application/json";
    assertThat(session.api().send(method, path, type, body.replace('\'', '"'), TIMEOUT).join()
        .status()).isBetween(200, 201);
  }

  private Map<String, String> written() {
    var all = new TreeMap<String, String>();
    for (JsonNode pod : JsonMapper.shared()
        .readTree(session.api().fetch(PODS, TIMEOUT).join().body()).path("items")) {
      all.put(pod.at("/metadata/name").asString(), pod.at("/metadata/annotations")
          .path("controller.kubernetes.io/pod-deletion-cost").asString("")
          + (pod.at("/metadata/annotations").has("other") ? " and another" : ""));
    }
    return all;
  }

  private void prepare() {
    scene.affinities.prepareScaleDown(WEB, costs).join();
  }

  @Test
  void aPodGetsTheNumberOfTheKeysThatItHasIssued_andPodsOfOthersNothing() {
    pod(1, "web");
    pod(2, "web");
    pod(3, "web");
    pod(1, "other");
    send("PATCH", PODS + "/web-1", "{'metadata':{'annotations':{'other':'stays'}}}");
    scene.has(AffinityScene.pods(2));
    scene.begins("a");
    scene.begins("b");
    scene.begins("c");
    var keys = new TreeMap<String, Integer>();
    for (var session : new String[]{"a", "b", "c"}) {
      keys.merge(scene.runsOn(session).host(), 1, Integer::sum);
    }

    prepare();

    assertThat(written()).isEqualTo(Map.of("other-1", "",
        "web-1", keys.getOrDefault("10.0.0.1", 0) + " and another",
        "web-2", "" + keys.getOrDefault("10.0.0.2", 0), "web-3", ""));
  }

  @Test
  void costsAreWrittenAtMostOnceInTenSeconds() {
    pod(1, "web");
    scene.has(AffinityScene.pods(1));
    scene.begins("a");
    prepare();
    scene.begins("b");

    prepare();
    assertThat(written()).isEqualTo(Map.of("web-1", "1"));

    now.addAndGet(Duration.ofSeconds(11).toNanos());
    prepare();
    assertThat(written()).isEqualTo(Map.of("web-1", "2"));
  }

  @Test
  void aProblemOfOneWorkloadIsLoggedOnce_althoughOthersHaveNone() {
    var other = new RevisionId("blog", "web");
    api.faults().add(Match.requests(Verb.LIST).in("shop"), Fault.Answer.status(403));
    try (var log = LogLines.of(DeletionCostWriter.class)) {
      for (int i = 0; i < 3; i++) {
        now.addAndGet(Duration.ofSeconds(11).toNanos());
        costs.write(WEB, Map::of).join();
        costs.write(other, Map::of).join();
      }

      assertThat(log.at(Level.WARN)).filteredOn(line -> line.contains("403")).hasSize(1);
    }
  }

  @Test
  void aProblemThatGoesOnIsLoggedAgainAfterAnHour() {
    api.faults().add(Match.requests(Verb.LIST), Fault.Answer.status(403));
    try (var log = LogLines.of(DeletionCostWriter.class)) {
      for (int minute = 0; minute < 70; minute++) {
        now.addAndGet(Duration.ofMinutes(1).toNanos());
        costs.write(WEB, Map::of).join();
      }

      // On a busy machine an answer may also come too late, which is another problem.
      assertThat(log.at(Level.WARN)).filteredOn(line -> line.contains("403")).hasSize(2);
    }
  }

  @Test
  void problemsThatAlternateAreEachLoggedOnce() {
    try (var log = LogLines.of(DeletionCostWriter.class)) {
      for (int status : new int[]{403, 400, 403, 400}) {
        var rule = api.faults().add(Match.requests(Verb.LIST), Fault.Answer.status(status));
        now.addAndGet(Duration.ofSeconds(11).toNanos());
        costs.write(WEB, Map::of).join();
        rule.remove();
      }

      assertThat(log.at(Level.WARN)).filteredOn(line -> line.contains("403")).hasSize(1);
      assertThat(log.at(Level.WARN)).filteredOn(line -> line.contains("400")).hasSize(1);
    }
  }

  @Test
  void nothingIsReadForAWorkloadWithoutAffinity_norWaitedForIfTheApiIsGone() {
    assertThat(scene.affinities.prepareScaleDown(new RevisionId("shop", "none"), costs)).isDone();
    api.close();

    assertThat(scene.affinities.prepareScaleDown(WEB, costs)
        .orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS).join()).isNull();
  }
}
