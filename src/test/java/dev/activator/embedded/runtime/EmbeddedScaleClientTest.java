package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.autoscaler.Autoscaler;
import dev.activator.revision.ScalingListener;
import dev.activator.kube.LeadershipCheck;
import dev.activator.standalone.autoscaler.policy.ScalingAnnotations.Defaults;
import dev.activator.standalone.autoscaler.policy.ScalingSettings;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.TestValues;
import dev.activator.testing.VirtualLoop;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

class EmbeddedScaleClientTest {
  private static final RevisionId FIRST = new RevisionId("default", "web-00001");
  private static final RevisionId SECOND = new RevisionId("default", "web-00002");

  private final VirtualLoop loop = new VirtualLoop();
  private final ApiStore store = new ApiStore(Clock.systemUTC());
  private final EmbeddedScaleClient scaling = new EmbeddedScaleClient(store, loop,
      new Defaults(Duration.ofSeconds(6), 10));
  private final Autoscaler autoscaler = new Autoscaler(loop, scaling, LeadershipCheck.ALONE,
      new ScalingListener() {
      }, new Random(1));

  @BeforeEach
  void start() {
    autoscaler.start();
    scaling.start(autoscaler);
    loop.run();
  }

  private void revision(RevisionId id, Map<String, String> annotations) {
    var revision = named(id.name());
    ObjectMeta.of(revision).putObject("labels").put(KnownLabels.SERVICE, "web")
        .put(KnownLabels.CONFIGURATION_GENERATION, id.name().substring(8));
    var all = ObjectMeta.of(revision).putObject("annotations").put("other", "1")
        .put(EmbeddedScaleClient.INITIAL_SCALE, "0");
    annotations.forEach((name, value) -> all.put("autoscaling.knative.dev/" + name, value));
    revision.putObject("spec").put("containerConcurrency", 2);
    store.create(BuiltInKinds.REVISION, revision);
    var deployment = named(id.name() + "-deployment");
    deployment.putObject("spec").put("replicas", 0);
    store.create(BuiltInKinds.DEPLOYMENT, deployment);
    loop.run();
  }

  private static ObjectNode named(String name) {
    var object = Json.object();
    ObjectMeta.of(object).put("namespace", "default").put("name", name);
    return object;
  }

  private int replicas(RevisionId id) {
    var deployment = store.find(BuiltInKinds.DEPLOYMENT, "default", id.name() + "-deployment");
    return deployment == null ? -1 : deployment.path("spec").path("replicas").intValue();
  }

  private ScalingSettings settings(RevisionId id) {
    return scaling.settings(store.find(BuiltInKinds.REVISION, "default", id.name()));
  }

  @Test
  void aRevisionThatTakesNoRequestsKeepsNoMinimum() {
    revision(FIRST, Map.of("min-scale", "2"));
    loop.advance(Duration.ofSeconds(3));
    assertThat(replicas(FIRST)).isEqualTo(2);

    revision(SECOND, Map.of("min-scale", "3"));
    loop.advance(Duration.ofSeconds(3));
    assertThat(replicas(SECOND)).isEqualTo(3);
    store.edit(BuiltInKinds.REVISION, "default", FIRST.name(), revision -> {
      ObjectMeta.of(revision).withObjectProperty("labels").put(KnownLabels.ROUTING_STATE,
          ServiceRouter.RESERVE);
      return revision;
    });
    assertThat(settings(FIRST).bounds().min()).isZero();
  }

  @Test
  void aRevisionWithoutAnAnnotationStartsWithOnePod() {
    revision(FIRST, Map.of());
    store.edit(BuiltInKinds.REVISION, "default", FIRST.name(), revision -> {
      ((ObjectNode) ObjectMeta.of(revision).path("annotations"))
          .remove(EmbeddedScaleClient.INITIAL_SCALE);
      return revision;
    });

    assertThat(settings(FIRST).bounds().initial()).isEqualTo(1);
  }

  @Test
  void readsTheConcurrencyAndTheAnnotations() {
    revision(FIRST, Map.of("target", "1", "window", "30s"));

    var settings = settings(FIRST);
    assertThat(settings.aims().getFirst().perPod()).isEqualTo(0.7);
    assertThat(settings.windows().stable()).isEqualTo(Duration.ofSeconds(30));
    assertThat(settings.bounds().max()).isEqualTo(10);
  }

  @Test
  void aWriteAfterAnotherChangeIsAConflict() {
    revision(FIRST, Map.of());
    var workload = new ScaleTargetRef("apps/v1", "Deployment", "web-00001-deployment");
    var read = (ScaleApiResult.Found) scaling.read(FIRST, workload).join();
    assertThat(scaling.write(FIRST, workload, read, 1).join())
        .isInstanceOf(ScaleApiResult.Found.class);

    assertThat(scaling.write(FIRST, workload, read, 2).join())
        .isInstanceOfSatisfying(ScaleApiResult.Refused.class,
            refused -> assertThat(refused.reason()).isEqualTo(ScaleApiResult.Reason.CONFLICT));
    assertThat(replicas(FIRST)).isEqualTo(1);
  }

  @Test
  void aWriteAfterAnotherStatusIsNoConflict() {
    revision(FIRST, Map.of());
    var workload = new ScaleTargetRef("apps/v1", "Deployment", "web-00001-deployment");
    var read = (ScaleApiResult.Found) scaling.read(FIRST, workload).join();
    store.updateStatus(BuiltInKinds.DEPLOYMENT, "default", workload.name(), deployment -> {
      deployment.withObjectProperty("status").put("replicas", 7);
      return deployment;
    });

    assertThat(scaling.write(FIRST, workload, read, 1).join())
        .isInstanceOf(ScaleApiResult.Found.class);
    assertThat(replicas(FIRST)).isEqualTo(1);
  }

  @Test
  void aWriteAfterTheDeploymentWasReplacedIsAConflict() {
    revision(FIRST, Map.of());
    var workload = new ScaleTargetRef("apps/v1", "Deployment", "web-00001-deployment");
    var read = (ScaleApiResult.Found) scaling.read(FIRST, workload).join();
    store.delete(BuiltInKinds.DEPLOYMENT, "default", workload.name());
    var next = named(workload.name());
    next.putObject("spec").put("replicas", 0);
    store.create(BuiltInKinds.DEPLOYMENT, next);

    assertThat(scaling.write(FIRST, workload, read, 1).join())
        .isInstanceOfSatisfying(ScaleApiResult.Refused.class,
            refused -> assertThat(refused.reason()).isEqualTo(ScaleApiResult.Reason.CONFLICT));
    assertThat(replicas(FIRST)).isZero();
  }

  @Test
  void knowsWhichClientHasSetTheReplicas() throws Exception {
    try (var api = EmbeddedApi.start(); var http = HttpClient.newHttpClient()) {
      var deployment = named("web");
      deployment.putObject("spec").put("replicas", 0);
      api.store().create(BuiltInKinds.DEPLOYMENT, deployment);
      var client = new EmbeddedScaleClient(api.store(), loop,
          new Defaults(Duration.ofSeconds(6), 10));
      var workload = new ScaleTargetRef("apps/v1", "Deployment", "web");
      assertThat(client.managerOfReplicas(FIRST, workload).join()).isEmpty();

      var patched = http.send(HttpRequest.newBuilder(URI.create(api.url()
          + "/apis/apps/v1/namespaces/default/deployments/web/scale?fieldManager=argocd"))
          .header("Content-Type", "application/merge-patch+json")
          .method("PATCH", BodyPublishers.ofString("{\"spec\": {\"replicas\": 3}}")).build(),
          BodyHandlers.ofString());

      assertThat(patched.statusCode()).isEqualTo(200);
      assertThat(client.managerOfReplicas(FIRST, workload).join()).isEqualTo("argocd");
      assertThat(client.managerOfReplicas(FIRST, new ScaleTargetRef("apps/v1", "Deployment",
          "none")).join()).isEmpty();
    }
  }

  @Test
  void aRevisionThatIsGoneIsScaledNoMore() {
    revision(FIRST, Map.of("min-scale", "2"));
    loop.advance(Duration.ofSeconds(1));
    store.delete(BuiltInKinds.REVISION, "default", "web-00001");
    loop.run();

    assertThat(autoscaler.views()).isEmpty();
  }

  /** Deletions and the activator's own watch come in any order. */
  @Test
  void keepsTheScaledServiceThatTookTheNameOfADeletedRevision() {
    revision(FIRST, Map.of());
    var deployment = named("other");
    deployment.putObject("spec").put("replicas", 0);
    store.create(BuiltInKinds.DEPLOYMENT, deployment);
    var other = new ScaleTargetRef("apps/v1", "Deployment", "other");
    autoscaler
        .target(TestValues.scaledTarget(FIRST, other, 0, OptionalInt.of(2), OptionalInt.of(1), 0,
            Duration.ofSeconds(6), Duration.ofSeconds(300), OptionalInt.empty()));
    loop.run();

    store.delete(BuiltInKinds.REVISION, "default", FIRST.name());
    loop.run();
    assertThat(autoscaler.views().get(FIRST).workload()).isEqualTo(other);
  }

  /** As after "kubectl delete revision --cascade=orphan". */
  @Test
  void countsThePodsThatWereReadyBeforeTheirRevisionExisted() {
    var deployment = named(FIRST.name() + "-deployment");
    ObjectMeta.of(deployment).putObject("labels").put(KnownLabels.REVISION, FIRST.name());
    deployment.putObject("spec").put("replicas", 1);
    store.create(BuiltInKinds.DEPLOYMENT, deployment);
    store.updateStatus(BuiltInKinds.DEPLOYMENT, "default", ObjectMeta.name(deployment), found -> {
      found.putObject("status").put("readyReplicas", 1).put("replicas", 1);
      return found;
    });
    loop.run();
    var revision = named(FIRST.name());
    revision.putObject("spec");
    store.create(BuiltInKinds.REVISION, revision);
    loop.advance(Duration.ofSeconds(3));

    assertThat(autoscaler.views().get(FIRST).ready()).isEqualTo(1);
  }
}
