package dev.activator.backend;

import static dev.activator.backend.Fixtures.A;
import static dev.activator.backend.Fixtures.B;
import static dev.activator.backend.Fixtures.CLUSTER_IP;
import static dev.activator.backend.Fixtures.REVISION;
import static dev.activator.backend.Fixtures.notReady;
import static dev.activator.backend.Fixtures.pods;
import static dev.activator.backend.Fixtures.ready;
import static dev.activator.backend.Fixtures.viaClusterIp;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.upstream.ProbeClient.ProbeResult;
import dev.activator.revision.LiveRevisions;
import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import dev.activator.config.NetworkConfig.MeshMode;
import dev.activator.revision.PrivateEndpoints.PrivateClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RevisionBackendsManagerTest {
  private static final Revision PLAIN = Revision.of(REVISION, 1);

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final FakePods fake = new FakePods(loop);
  private final List<HealthyDestinations> published = new ArrayList<>();
  private final LiveRevisions live = new LiveRevisions(_ -> loop);
  private final RevisionBackendsManager backends = Fixtures.manager(live, loop, fake);
  private final ReportedObjects objects = new ReportedObjects(live, backends);

  RevisionBackendsManagerTest() {
    backends.healthy().subscribe("test", published::add);
  }

  private static PrivateEndpoints http1(PodsByReadiness pods) {
    return new PrivateEndpoints(REVISION, pods, PodsByReadiness.NONE);
  }

  private static Revision revision(String uid, PortProtocol protocol, boolean probesBeforeReady) {
    return new Revision(REVISION, uid, protocol, 1, RequestTimeouts.DEFAULT, probesBeforeReady,
        null, Map.of(), Map.of(), null);
  }

  @Test
  @DisplayName("goes over to the ClusterIP and back when the mesh mode changes")
  void switchesToTheClusterIpAndBackWhenTheMeshModeChanges() {
    var mode = new AtomicReference<>(MeshMode.AUTO);
    var meshed = Make.backends(live, loop, fake,
        Fixtures.settings(() -> new MeshAddressing(mode.get(), false)), Fixtures.NO_SPREAD);
    meshed.healthy().subscribe("test", published::add);
    meshed.revision(live.update(PLAIN));
    meshed.clusterIp(new PrivateClusterIp(REVISION, CLUSTER_IP, null));
    meshed.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    mode.set(MeshMode.ENABLED);
    meshed.addressingChanged();
    loop.advance(ofSeconds(5));
    mode.set(MeshMode.DISABLED);
    meshed.addressingChanged();
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(A), pods(), viaClusterIp(A), pods(), pods(A));
  }

  @Test
  @DisplayName("watches a revision")
  void watchesARevision() {
    fake.answers(A, List.of(FakePods.MESH, FakePods.OK));
    fake.answers(CLUSTER_IP, FakePods.REFUSED);
    objects.revision(PLAIN);
    objects.clusterIp(new PrivateClusterIp(REVISION, CLUSTER_IP, null));
    objects.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(A));
  }

  @Test
  void aPodThatKubernetesCallsReadyServesOnlyOnceItAnswersAsExpected() {
    fake.answers(A, List.of(new ProbeResult.Unexpected("is starting up"),
        new ProbeResult.Unexpected("is starting up"), new ProbeResult.Connected()));
    objects.revision(new Revision(REVISION, "1", PortProtocol.HTTP1, 0, RequestTimeouts.DEFAULT,
        true,
        ReadinessProbeSpec.answering(new ReadinessProbeSpec.ExpectedAnswer("", "R")), Map.of(),
        Map.of(),
        null));
    objects.listed(http1(ready(A)));
    loop.advance(ofMillis(15));
    assertThat(fake.asked(A)).hasSize(2);
    assertThat(published).isEmpty();

    loop.advance(ofSeconds(1));

    assertThat(published).containsExactly(pods(A));
  }

  @Test
  void aPodThatAnswersTheProbeOfAPortIsProbedMoreOftenWhileAClientWaits() {
    fake.answers(A, new ProbeResult.Unexpected("is starting up"));
    objects.revision(new Revision(REVISION, "1", PortProtocol.TCP, 0, RequestTimeouts.DEFAULT,
        true, ReadinessProbeSpec.answering(new ReadinessProbeSpec.ExpectedAnswer("", "R")),
        Map.of(),
        Map.of(), null));
    objects.listed(http1(ready(A)));
    loop.advance(ofSeconds(1));
    int first = fake.asked(A).size();
    loop.advance(ofSeconds(1));
    int unawaited = fake.asked(A).size() - first;

    backends.onRequestWaits(REVISION, loop);
    loop.advance(ofSeconds(1));

    assertThat(unawaited).isPositive();
    assertThat(fake.asked(A).size() - first - unawaited).isGreaterThan(unawaited * 3 / 2);
  }

  @Test
  void aPodThatRefusesIsNotGivenUpWhileItsEndpointsMayBeStale() {
    // given no watch of Endpoints when the revision becomes known
    fake.answers(A, List.of(FakePods.OK, FakePods.REFUSED));
    backends.watchChanged(false);
    objects.revision(PLAIN);
    objects.listed(http1(ready(A)));
    loop.advance(ofSeconds(1));

    backends.onUnreachable(REVISION, A);
    loop.advance(ofSeconds(30));
    assertThat(published).containsExactly(pods(A), pods());

    backends.watchChanged(true);
    loop.advance(ofSeconds(19));
    assertThat(published).hasSize(2);
    loop.advance(ofSeconds(2));
    assertThat(published).endsWith(HealthyDestinations.givenUp(REVISION));

    backends.watchChanged(false);
    loop.run();
    assertThat(published).endsWith(pods());
  }

  @Test
  void whileHeldOnlyPodsThatARequestWaitsForAreProbed() {
    backends.probeOnlyAwaited();
    objects.revision(PLAIN);
    objects.listed(http1(ready(A)));
    var other = new RevisionId("ns", "other");
    objects.revision(Revision.of(other, 1));
    objects.listed(new PrivateEndpoints(other, ready(B), PodsByReadiness.NONE));
    loop.advance(ofSeconds(5));
    assertThat(fake.asked()).isEmpty();

    backends.onRequestWaits(REVISION, loop);
    loop.advance(ofMillis(1));
    assertThat(published).containsExactly(pods(A));
    assertThat(fake.asked(B)).isEmpty();

    backends.probeAll();
    loop.advance(ofMillis(1));
    assertThat(published).containsExactly(pods(A),
        HealthyDestinations.pods(other, DestinationSet.of(B)));
  }

  @Test
  void podsOfARequestThatWaitedBeforeTheyWereListedAreProbedAtOnce() {
    backends.probeOnlyAwaited();
    objects.revision(PLAIN);
    backends.onRequestWaits(REVISION, loop);
    objects.listed(http1(ready(A)));
    loop.advance(ofMillis(1));

    assertThat(published).containsExactly(pods(A));
  }

  @Test
  @DisplayName("listens to the port of the revisions protocol")
  void listensToThePortOfTheRevisionsProtocol() {
    var h2c = revision("1", PortProtocol.H2C, true);
    objects.revision(h2c);
    objects.listed(new PrivateEndpoints(REVISION, ready(A), ready(B)));
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(B).over(h2c.transport()));
  }

  @Test
  void hundredsOfDeadPodsTakeFewConnectionsWhileNoRequestWaits() {
    // given 300 revisions with a pod that refuses connections
    var dead = new ArrayList<Destination>();
    for (int i = 0; i < 300; i++) {
      var id = new RevisionId("leftovers", "revision-" + i);
      var pod = new Destination("10.0." + i / 250 + "." + (1 + i % 250), 8012);
      fake.answers(pod, FakePods.REFUSED);
      dead.add(pod);
      objects.revision(Revision.of(id, 1));
      objects.listed(new PrivateEndpoints(id, ready(pod), PodsByReadiness.NONE));
    }
    loop.advance(ofSeconds(120));
    fake.asked().clear();

    // when nobody needs them for five minutes, then each is asked at most four times a minute
    loop.advance(ofSeconds(300));
    assertThat(fake.asked().size()).isBetween(300 * 10, 300 * 20);

    // when a request waits, then its revision's pod is asked at once
    fake.answers(dead.get(7), FakePods.OK);
    backends.onRequestWaits(new RevisionId("leftovers", "revision-7"), loop);
    loop.advance(ofMillis(1));
    assertThat(published).extracting(now -> now.pods().all())
        .containsExactly(List.of(dead.get(7)));
  }

  @Test
  @DisplayName("keeps revisions apart")
  void keepsRevisionsApart() {
    var other = new RevisionId("test-namespace", "other");
    objects.revision(PLAIN);
    objects.revision(Revision.of(other, 1));
    objects.listed(http1(ready(A)));
    objects.listed(new PrivateEndpoints(other, ready(B), PodsByReadiness.NONE));
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactlyInAnyOrder(pods(A), HealthyDestinations.pods(other,
        DestinationSet.of(B)));
  }

  @Test
  @DisplayName("remembers endpoints and service until the revision is known")
  void remembersEndpointsAndServiceUntilTheRevisionIsKnown() {
    // given Endpoints and a Service that come first
    fake.answers(A, FakePods.MESH);
    objects.listed(http1(ready(A)));
    objects.clusterIp(new PrivateClusterIp(REVISION, CLUSTER_IP, null));
    loop.advance(ofSeconds(5));
    assertThat(fake.asked()).isEmpty();

    // when the revision is heard of
    objects.revision(PLAIN);
    loop.advance(ofSeconds(5));

    // then both count
    assertThat(published).containsExactly(viaClusterIp(A));
  }

  @Test
  @DisplayName("waits for kubernetes where an exec probe decides")
  void waitsForKubernetesWhereAnExecProbeDecides() {
    objects.revision(revision("1", PortProtocol.HTTP1, false));
    objects.listed(http1(notReady(A)));
    loop.advance(ofSeconds(5));

    assertThat(published).isEmpty();
  }

  @Test
  @DisplayName("takes pods back when endpoints are deleted")
  void takesPodsBackWhenEndpointsAreDeleted() {
    objects.revision(PLAIN);
    objects.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    objects.podsGone(REVISION);
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(A), pods());
  }

  @Test
  @DisplayName("watches again when endpoints come back")
  void watchesAgainWhenEndpointsComeBack() {
    // given a revision behind its ClusterIP
    fake.answers(A, FakePods.MESH);
    objects.revision(PLAIN);
    objects.clusterIp(new PrivateClusterIp(REVISION, CLUSTER_IP, null));
    objects.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    // when its Endpoints are deleted and made again
    objects.podsGone(REVISION);
    loop.advance(ofSeconds(5));
    fake.answers(A, FakePods.OK);
    objects.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    // then pods are addressed again
    assertThat(published).containsExactly(viaClusterIp(A), pods(), pods(A));
  }

  @Test
  @DisplayName("uses the port of the Service, not the pods'")
  void usesThePortOfTheService() {
    var address = new Destination("129.0.0.1", 1235);
    fake.answers(A, FakePods.MESH);
    objects.revision(PLAIN);
    objects.clusterIp(new PrivateClusterIp(REVISION, address, null));
    objects.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    assertThat(published)
        .containsExactly(new HealthyDestinations(REVISION, address, DestinationSet.of(A)));
  }

  @Test
  void blackHolesOfOneRevisionDelayNoOther() {
    // given a revision of which three hundred pods hang, and the limits of the product
    var holes = new RevisionId("black", "holes");
    var limited = Make.backends(live, loop, fake);
    limited.healthy().subscribe("test", published::add);
    var pods = IntStream.range(0, 300).mapToObj(i -> new Destination("10.0.1." + i, 1)).toList();
    pods.forEach(pod -> fake.answers(pod, FakePods.HANGS));
    limited.revision(live.update(Revision.of(holes, 1)));
    limited
        .listed(
            new PrivateEndpoints(holes,
                new PodsByReadiness(DestinationSet.of(pods), DestinationSet.NONE),
                PodsByReadiness.NONE));
    loop.advance(ofSeconds(20));

    // when a pod of another is listed, and begins to listen a second later
    limited.revision(live.update(PLAIN));
    fake.listensFrom(A, loop.elapsed().plusSeconds(1));
    limited.listed(http1(notReady(A)));
    loop.advance(Duration.ofMillis(1_050));

    // then it serves within 50 ms: a pause of 31, and its turn among two
    assertThat(published).containsExactly(pods(A));
  }

  @Test
  void forgetsARevisionThatIsGone() {
    objects.revision(PLAIN);
    objects.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    objects.revisionGone(REVISION);
    objects.podsGone(REVISION);
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(A), pods());
    assertThat(backends.view(REVISION)).isNull();
  }

  @Test
  void aListenerThatFailsDoesNotKeepOthersFromBeingCalled() {
    backends.healthy().subscribe("test", _ -> {
      throw new IllegalStateException("a bug");
    });
    var received = new ArrayList<HealthyDestinations>();
    backends.healthy().subscribe("test", received::add);

    objects.revision(PLAIN);
    objects.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    assertThat(received).containsExactly(pods(A));
  }

  @Test
  void aListenerThatFailsDoesNotKeepPodsFromBeingProbed() {
    backends.healthy().subscribe("test", _ -> {
      throw new IllegalStateException("a bug");
    });
    objects.revision(PLAIN);
    objects.listed(http1(ready(A)));
    loop.advance(ofSeconds(1));
    objects.listed(http1(ready(B)));
    loop.advance(ofSeconds(1));

    assertThat(published).containsExactly(pods(A), pods(), pods(B));
  }

  /** What can be said of a revision: R of the Revision, E of the Endpoints, S of the Service. */
  private void say(char object) {
    switch (object) {
      case 'R' -> objects.revision(PLAIN);
      case 'r' -> objects.revisionGone(REVISION);
      case 'E' -> objects.listed(http1(ready(A)));
      case 'e' -> objects.podsGone(REVISION);
      case 'S' -> objects.clusterIp(new PrivateClusterIp(REVISION, CLUSTER_IP, null));
      case 's' -> objects.clusterIp(new PrivateClusterIp(REVISION, null, null));
      default -> throw new IllegalArgumentException("unknown: " + object);
    }
    loop.advance(ofSeconds(1));
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"RES", "RSE", "ERS", "ESR", "SRE", "SER"})
  void objectsMayComeInAnyOrder(String order) {
    // given a pod that only the ClusterIP reaches
    fake.answers(A, FakePods.MESH);

    order.chars().forEach(object -> say((char) object));

    assertThat(published).containsExactly(viaClusterIp(A));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
      "only Endpoints,               E,      ''",
      "only the Revision,            R,      ''",
      "Endpoints deleted,            REe,    A -",
      "Revision deleted,             REr,    A -",
      "both deleted,                 REre,   A -",
      "both deleted otherwise,       REer,   A -",
      "Endpoints created again,      REeE,   A - A",
      "Revision created again,       RErR,   A - A",
      "both created again,           REreRE, A - A",
      "Endpoints first again,        REreER, A - A",
      "Endpoints stay,               RErR,   A - A",
      "Revision deleted before,      RrE,    ''",
      "Endpoints deleted before,     EeR,    ''",
      "Revision after its Endpoints, EeER,   A",
      "said twice,                   RREE,   A",
      "deleted twice,                REee,   A -"})
  void endpointsCreateAndCancelWatchersOfRevisionsThatExist(String what, String events,
      String expected) {
    events.chars().forEach(object -> say((char) object));

    assertThat(published).isEqualTo(Stream.of(expected.split(" ")).filter(one -> !one.isEmpty())
        .map(one -> one.equals("A") ? pods(A) : pods()).toList());
    assertThat(backends.view(REVISION) != null).isEqualTo(expected.endsWith("A"));
  }

  @Test
  void aRevisionWithoutEndpointsIsNotWatched() {
    objects.revision(PLAIN);
    objects.clusterIp(new PrivateClusterIp(REVISION, CLUSTER_IP, null));
    loop.advance(ofSeconds(5));

    assertThat(backends.view(REVISION)).isNull();
    assertThat(fake.asked()).isEmpty();
  }

  @Test
  void watchesAgainWhenTheRevisionIsCreatedAgain() {
    objects.revision(revision("1", PortProtocol.HTTP1, true));
    objects.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    // when the deletion was missed, and the revision has another uid
    objects.revision(revision("2", PortProtocol.HTTP1, true));
    loop.advance(ofSeconds(5));

    // then what the old one's pods answered does not count
    assertThat(published).containsExactly(pods(A), pods(), pods(A));
    assertThat(fake.asked(A)).hasSize(2);
  }

  @Test
  void keepsWatchingWhenTheRevisionChangesOtherwise() {
    objects.revision(PLAIN);
    objects.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    objects.revision(Revision.of(REVISION, 10));
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(A));
    assertThat(fake.asked(A)).hasSize(1);
  }

  @Test
  void probesWithWhatPodsMustProveNow_andKeepsThoseThatAnswered() {
    objects.revision(overTls("one"));
    objects.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    objects.revision(overTls("two"));
    objects.listed(http1(ready(A, B)));
    loop.advance(ofSeconds(5));

    // and requests get the new authorities with the pods that they verify
    var one = overTls("one").transport();
    var two = overTls("two").transport();
    assertThat(published).containsExactly(pods(A).over(one), pods(A).over(two),
        pods(A, B).over(two));
    assertThat(fake.identities()).containsExactly(identity("one"), identity("two"));
  }

  private static PodIdentity.OfService identity(String authorities) {
    return new PodIdentity.OfService("web.shop.svc", authorities);
  }

  private static Revision overTls(String authorities) {
    return new Revision(REVISION, "1", PortProtocol.NEGOTIATED, 1, RequestTimeouts.DEFAULT, true,
        ReadinessProbeSpec.CONNECT, Map.of(), Map.of(), null, null, identity(authorities));
  }

  @Test
  void probesAPodThatRequestsCannotReach() {
    objects.revision(PLAIN);
    objects.listed(http1(ready(A, B)));
    loop.advance(ofSeconds(5));

    backends.onUnreachable(REVISION, A);
    loop.advance(ofSeconds(5));

    assertThat(published).endsWith(pods(A, B), pods(B), pods(A, B));
  }

  @Test
  void aBugEndsAWatcherUntilTheEndpointsAreListedAgain() {
    // given a bug in what follows from a failed probe
    var bug = new boolean[]{true};
    var fragile = Make.backends(live, loop, fake, ProbeSettings.DEFAULT, () -> {
      if (bug[0]) {
        throw new IllegalStateException("a bug");
      }
      return 0;
    });
    fragile.healthy().subscribe("test", published::add);
    fragile.revision(live.update(PLAIN));
    fragile.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    // when it happens, then what was published is taken back, and nothing is probed any more
    fake.answers(B, FakePods.REFUSED);
    fragile.listed(http1(ready(A, B)));
    loop.advance(ofSeconds(60));
    assertThat(published).containsExactly(pods(A), pods());
    assertThat(fragile.view(REVISION)).isNull();
    assertThat(fake.asked(B)).hasSize(1);

    // and when Kubernetes lists the pods again, then they are watched again
    bug[0] = false;
    fragile.listed(http1(ready(A, B)));
    loop.advance(ofSeconds(5));
    assertThat(published).containsExactly(pods(A), pods(), pods(A));
  }

  @Test
  @DisplayName("says nothing once stopped, and says when that is")
  void publishesNothingOnceStopped() {
    objects.revision(PLAIN);
    objects.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    var stopped = backends.stop();
    objects.listed(http1(ready(B)));
    objects.revisionGone(REVISION);
    assertThat(stopped).isNotDone();
    loop.advance(ofSeconds(5));

    assertThat(stopped).isCompleted();

    assertThat(published).containsExactly(pods(A));
    assertThat(backends.view(REVISION)).isNull();
  }
}
