package dev.activator.kube;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import java.time.Duration;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.revision.LeaseClient.LeaseApiResult;
import dev.activator.revision.LeaseClient.LeaseRecord;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Over HTTP, against the API of embedded mode. */
class ScalingApiClientsTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final ScaleTargetRef WORKLOAD = new ScaleTargetRef("apps/v1", "Deployment",
      "web");
  private static final Instant NOON = Instant.parse("2026-11-22T12:00:00.123456Z");

  private final EmbeddedApi server = EmbeddedApi.start();
  private final ScalingApiClients session = new ScalingApiClients(
      new ClusterAccess.At(URI.create(server.url())),
      () -> KubernetesWriteRateLimiter.UNLIMITED, Duration.ofSeconds(120));

  @BeforeEach
  void create() {
    session.open();
    server.store().create(BuiltInKinds.DEPLOYMENT, Objects.parse("""
        {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'namespace': 'shop',
         'name': 'web'}, 'spec': {'replicas': 2}}
        """));
  }

  @AfterEach
  void close() {
    session.close();
    server.close();
  }

  private static <T> T result(CompletableFuture<T> future) throws Exception {
    return future.get(120, SECONDS);
  }

  private Found read() throws Exception {
    return (Found) result(session.scales().read(WEB, WORKLOAD));
  }

  private int replicas() {
    return server.store().find(BuiltInKinds.DEPLOYMENT, "shop", "web").at("/spec/replicas")
        .intValue();
  }

  @Test
  void readsAndWritesTheScaleOfADeployment() throws Exception {
    var found = read();
    assertThat(found.replicas()).isEqualTo(2);

    var written = result(session.scales().write(WEB, WORKLOAD, found, 0));
    assertThat(written).isInstanceOfSatisfying(Found.class,
        now -> assertThat(now.replicas()).isZero());
    assertThat(replicas()).isZero();
    assertThat(read().replicas()).isZero();
  }

  @Test
  void knowsWhichClientHasSetTheReplicas() throws Exception {
    assertThat(result(session.scales().managerOfReplicas(WEB, WORKLOAD))).isEmpty();

    apply("kubectl", 5);
    apply("argocd-controller", 7);

    assertThat(result(session.scales().managerOfReplicas(WEB, WORKLOAD)))
        .isEqualTo("argocd-controller");
  }

  private void apply(String manager, int replicas) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(server.url()
        + "/apis/apps/v1/namespaces/shop/deployments/web?force=true&fieldManager=" + manager))
        .header("Content-Type", "application/apply-patch+yaml")
        .method("PATCH", HttpRequest.BodyPublishers.ofString("""
            {"apiVersion": "apps/v1", "kind": "Deployment",
             "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": %d}}
            """.formatted(replicas)))
        .build();
    try (var client = HttpClient.newHttpClient()) {
      assertThat(client.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void writesUnderTheNameThatServerSideApplyShouldShow() throws Exception {
    result(session.scales().write(WEB, WORKLOAD, read(), 3));

    assertThat(server.faults().journal().calls(Match.requests(Verb.PATCH).by("activator")))
        .hasSize(1);
  }

  @Test
  void aWriteAfterAnotherChangeIsAConflict() throws Exception {
    var found = read();
    result(session.scales().write(WEB, WORKLOAD, found, 3));

    assertThat(reason(result(session.scales().write(WEB, WORKLOAD, found, 1))))
        .isEqualTo(Reason.CONFLICT);
    assertThat(replicas()).isEqualTo(3);
  }

  @Test
  void aRenewalKeepsWhatOthersHaveSetInTheLease() throws Exception {
    server.store().create(BuiltInKinds.LEASE, Objects.parse("""
        {'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease',
         'metadata': {'namespace': 'system', 'name': 'activator', 'labels': {'team': 'a'},
          'annotations': {'note': 'b'}, 'ownerReferences': [{'apiVersion': 'v1', 'kind': 'Pod',
          'name': 'p', 'uid': 'u'}]},
         'spec': {'strategy': 'OldestEmulationVersion', 'preferredHolder': 'c'}}
        """));
    var lease = session.lease("system", "activator");
    var read = ((LeaseApiResult.Found) result(lease.read())).lease();

    for (int i = 0; i < 2; i++) {
      var written = result(lease.write(new LeaseRecord("me", 15, 1, NOON, NOON, read.version())));
      read = ((LeaseApiResult.Found) written).lease();
    }

    var now = server.store().find(BuiltInKinds.LEASE, "system", "activator");
    assertThat(now.at("/metadata/labels/team").asString()).isEqualTo("a");
    assertThat(now.at("/metadata/annotations/note").asString()).isEqualTo("b");
    assertThat(now.at("/metadata/ownerReferences/0/uid").asString()).isEqualTo("u");
    assertThat(now.at("/spec/preferredHolder").asString()).isEqualTo("c");
    assertThat(now.at("/spec/strategy").asString()).isEqualTo("OldestEmulationVersion");
    assertThat(now.at("/spec/holderIdentity").asString()).isEqualTo("me");
  }

  private static Reason reason(ScaleApiResult answer) {
    return ((Refused) answer).reason();
  }

  @ParameterizedTest(name = "{0} {1} {2}: {3}")
  @CsvSource({"apps/v1, Deployment, none, NOT_FOUND, deployments.apps",
      "apps/v1, Rollout, web, NOT_SCALABLE, serves no Rollout",
      "v1, Pod, web, NOT_SCALABLE, pods have no scale",
      "apps/v1, Deployment, ../pods/x, INVALID, get Deployment ../pods/x in namespace shop"})
  void saysWhyAWorkloadCannotBeScaled(String version, String kind, String name, Reason reason,
      String message) throws Exception {
    var answer = result(session.scales().read(WEB, new ScaleTargetRef(version, kind, name)));

    assertThat(reason(answer)).isEqualTo(reason);
    assertThat(((Refused) answer).message()).contains(message);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({"403, FORBIDDEN", "422, INVALID", "429, UNAVAILABLE", "500, UNAVAILABLE"})
  void distinguishesRefusals(int status, Reason reason) throws Exception {
    var found = read();
    server.faults().add(Match.requests(), Fault.Answer.status(status));

    assertThat(reason(result(session.scales().write(WEB, WORKLOAD, found, 3)))).isEqualTo(reason);
  }

  @Test
  void noAnswerIsAnAnswerWithinSeconds() throws Exception {
    server.close();

    assertThat(reason(result(session.scales().read(WEB, WORKLOAD))))
        .isEqualTo(Reason.UNAVAILABLE);
    assertThat(result(session.lease("system", "activator").read()))
        .isInstanceOf(LeaseApiResult.Failed.class);
    assertThat(result(session.members("system", "activator"))).isEmpty();
  }

  @Test
  void createsRenewsAndReleasesALease() throws Exception {
    var leases = session.lease("system", "activator");
    assertThat(result(leases.read())).isEqualTo(new LeaseApiResult.Absent());

    var created = (LeaseApiResult.Found) result(
        leases.write(new LeaseRecord("a", 15, 0, NOON, NOON, "")));
    assertThat(created.lease().version()).isNotEmpty();
    assertThat(result(leases.read())).isEqualTo(created);

    var released = (LeaseApiResult.Found) result(leases
        .write(new LeaseRecord("", 1, 0, NOON, NOON.plusSeconds(2), created.lease().version())));
    assertThat(released.lease().holder()).isEmpty();
    assertThat(released.lease().renewed()).isEqualTo(NOON.plusSeconds(2));
  }

  @Test
  void oneOfTwoWritesOfALeaseIsAConflict() throws Exception {
    var leases = session.lease("system", "activator");
    var fresh = new LeaseRecord("a", 15, 0, NOON, NOON, "");
    var created = (LeaseApiResult.Found) result(leases.write(fresh));
    assertThat(result(leases.write(fresh))).isEqualTo(new LeaseApiResult.Conflict());

    var renewal = new LeaseRecord("a", 15, 0, NOON, NOON.plusSeconds(2),
        created.lease().version());
    assertThat(result(leases.write(renewal))).isInstanceOf(LeaseApiResult.Found.class);
    assertThat(result(leases.write(renewal))).isEqualTo(new LeaseApiResult.Conflict());
  }

  @Test
  void theLeaseOfTheElectionIsKnownByItsUidOnceItWasRead() throws Exception {
    var leases = session.lease("system", "activator");
    result(leases.write(new LeaseRecord("a", 15, 0, NOON, NOON, "")));

    assertThat(leases.regarding().uid()).isNotEmpty().isEqualTo(
        server.store().find(BuiltInKinds.LEASE, "system", "activator").at("/metadata/uid")
            .asString());
  }

  @Test
  void membersAreAllPodsOfTheServiceReadyOrNot() throws Exception {
    slice("activator-1", "activator", """
        {'addresses': ['10.0.0.1'], 'conditions': {'ready': true},
         'targetRef': {'kind': 'Pod', 'name': 'a'}},
        {'addresses': ['10.0.0.2'], 'conditions': {'ready': false, 'terminating': true},
         'targetRef': {'kind': 'Pod', 'name': 'b'}}
        """);
    slice("activator-2", "activator", """
        {'addresses': ['fd00::1'], 'targetRef': {'kind': 'Pod', 'name': 'c'}}
        """);
    slice("other-1", "other", """
        {'addresses': ['10.0.0.9'], 'targetRef': {'kind': 'Pod', 'name': 'd'}}
        """);

    assertThat(result(session.members("system", "activator")))
        .contains(Map.of("a", true, "b", false, "c", true));
  }

  private void slice(String name, String service, String endpoints) {
    server.store().create(BuiltInKinds.ENDPOINT_SLICE, Objects.parse("""
        {'apiVersion': 'discovery.k8s.io/v1', 'kind': 'EndpointSlice', 'addressType': 'IPv4',
         'metadata': {'namespace': 'system', 'name': '%s',
         'labels': {'kubernetes.io/service-name': '%s'}}, 'endpoints': [%s]}
        """.formatted(name, service, endpoints)));
  }
}
