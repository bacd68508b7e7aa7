package dev.activator.backend;

import static dev.activator.backend.Fixtures.A;
import static dev.activator.backend.Fixtures.B;
import static dev.activator.backend.Fixtures.C;
import static dev.activator.backend.Fixtures.CLUSTER_IP;
import static dev.activator.backend.Fixtures.REVISION;
import static dev.activator.backend.Fixtures.notReady;
import static dev.activator.backend.Fixtures.pods;
import static dev.activator.backend.Fixtures.ready;
import static dev.activator.backend.Fixtures.viaClusterIp;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.policy.Addressing;
import dev.activator.backend.policy.ProbeOutcome;
import dev.activator.config.MeshMode;
import dev.activator.revision.ClusterIp;
import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Listing;
import dev.activator.revision.PodListing;
import dev.activator.revision.Protocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RevisionBackendsManagerTest {
  private static final Revision PLAIN = Revision.of(REVISION, 1);

  private final VirtualLoop loop = new VirtualLoop();
  private final FakePods fake = new FakePods(loop);
  private final List<HealthyDestinations> published = new ArrayList<>();
  private final RevisionBackendsManager backends = new RevisionBackendsManager(id -> loop,
      BackendSettings.DEFAULT, Fixtures.shared(loop), (revision, on) -> fake);

  RevisionBackendsManagerTest() {
    backends.onChange(published::add);
  }

  private static PodListing http1(Listing pods) {
    return new PodListing(REVISION, pods, Listing.NONE);
  }

  private static Revision revision(String uid, Protocol protocol, boolean probesBeforeReady) {
    return new Revision(REVISION, uid, protocol, 1, RequestTimeouts.DEFAULT, probesBeforeReady,
        null, Map.of(), Map.of(), null);
  }

  @Test
  @DisplayName("6.2 goes over to the ClusterIP and back when the mesh mode changes")
  void goesOverToTheClusterIpAndBackWhenTheMeshModeChanges() {
    var mode = new AtomicReference<>(MeshMode.AUTO);
    var live = new RevisionBackendsManager(id -> loop,
        new BackendSettings(() -> new Addressing(mode.get(), false), ofMillis(300), ofMillis(200),
            500),
        Fixtures.shared(loop), (revision, on) -> fake);
    live.onChange(published::add);
    live.revision(PLAIN);
    live.clusterIp(new ClusterIp(REVISION, CLUSTER_IP, null));
    live.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    mode.set(MeshMode.ENABLED);
    live.readdressed();
    loop.advance(ofSeconds(5));
    mode.set(MeshMode.DISABLED);
    live.readdressed();
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(A), pods(), viaClusterIp(A), pods(), pods(A));
  }

  @Test
  @DisplayName("MG-01 watches a revision")
  void watchesARevision() {
    fake.answers(A, List.of(ProbeOutcome.of(503, ""), FakePods.OK));
    fake.answers(CLUSTER_IP, FakePods.REFUSED);
    backends.revision(PLAIN);
    backends.clusterIp(new ClusterIp(REVISION, CLUSTER_IP, null));
    backends.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(A));
  }

  @Test
  @DisplayName("MG-02 RW-03 listens to the port of the revisions protocol")
  void listensToThePortOfTheRevisionsProtocol() {
    backends.revision(revision("1", Protocol.H2C, true));
    backends.listed(new PodListing(REVISION, ready(A), ready(B)));
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(B));
  }

  @Test
  @DisplayName("MG-03 keeps revisions apart")
  void keepsRevisionsApart() {
    var other = new RevisionId("test-namespace", "other");
    backends.revision(PLAIN);
    backends.revision(Revision.of(other, 1));
    backends.listed(http1(ready(A)));
    backends.listed(new PodListing(other, ready(B), Listing.NONE));
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactlyInAnyOrder(pods(A), HealthyDestinations.pods(other,
        Destinations.of(B)));
  }

  @Test
  @DisplayName("MG-17 remembers endpoints and service until the revision is known")
  void remembersEndpointsAndServiceUntilTheRevisionIsKnown() {
    // given Endpoints and a Service that come first
    fake.answers(A, ProbeOutcome.of(503, ""));
    backends.listed(http1(ready(A)));
    backends.clusterIp(new ClusterIp(REVISION, CLUSTER_IP, null));
    loop.advance(ofSeconds(5));
    assertThat(fake.asked()).isEmpty();

    // when the revision is heard of
    backends.revision(PLAIN);
    loop.advance(ofSeconds(5));

    // then both count
    assertThat(published).containsExactly(viaClusterIp(A));
  }

  @Test
  @DisplayName("MG-08 waits for kubernetes where an exec probe decides")
  void waitsForKubernetesWhereAnExecProbeDecides() {
    backends.revision(revision("1", Protocol.HTTP1, false));
    backends.listed(http1(notReady(A)));
    loop.advance(ofSeconds(5));

    assertThat(published).isEmpty();
  }

  @Test
  @DisplayName("MG-13 takes pods back when endpoints are deleted")
  void takesPodsBackWhenEndpointsAreDeleted() {
    backends.revision(PLAIN);
    backends.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    backends.podsGone(REVISION);
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(A), pods());
  }

  @Test
  @DisplayName("MG-20 watches again when endpoints come back")
  void watchesAgainWhenEndpointsComeBack() {
    // given a revision behind its ClusterIP
    fake.answers(A, ProbeOutcome.of(503, ""));
    backends.revision(PLAIN);
    backends.clusterIp(new ClusterIp(REVISION, CLUSTER_IP, null));
    backends.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    // when its Endpoints are deleted and made again
    backends.podsGone(REVISION);
    loop.advance(ofSeconds(5));
    fake.answers(A, FakePods.OK);
    backends.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    // then pods are addressed again
    assertThat(published).containsExactly(viaClusterIp(A), pods(), pods(A));
  }

  @Test
  @DisplayName("RW-14 uses the port of the Service, not the pods'")
  void usesThePortOfTheService() {
    var address = new Destination("129.0.0.1", 1235);
    fake.answers(A, ProbeOutcome.of(503, ""));
    backends.revision(PLAIN);
    backends.clusterIp(new ClusterIp(REVISION, address, null));
    backends.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    assertThat(published)
        .containsExactly(new HealthyDestinations(REVISION, address, Destinations.of(A)));
  }

  @Test
  void blackHolesOfOneRevisionDelayNoOther() {
    // given a revision of which three hundred pods hang, and the limits of the product
    var holes = new RevisionId("black", "holes");
    var limited = new RevisionBackendsManager(id -> loop, BackendSettings.DEFAULT,
        Fixtures.shared(loop, new Random(1), 500), (revision, on) -> fake);
    limited.onChange(published::add);
    var pods = IntStream.range(0, 300).mapToObj(i -> new Destination("10.0.1." + i, 1)).toList();
    pods.forEach(pod -> fake.answers(pod, FakePods.HANGS));
    limited.revision(Revision.of(holes, 1));
    limited.listed(new PodListing(holes, new Listing(Destinations.of(pods), Destinations.NONE),
        Listing.NONE));
    loop.advance(ofSeconds(20));

    // when a pod of another is listed, and begins to listen a second later
    limited.revision(PLAIN);
    fake.listensFrom(A, loop.elapsed().plusSeconds(1));
    limited.listed(http1(notReady(A)));
    loop.advance(Duration.ofMillis(1_050));

    // then it serves within 50 ms: a pause of 31, and its turn among two
    assertThat(published).containsExactly(pods(A));
  }

  @Test
  void forgetsARevisionThatIsGone() {
    backends.revision(PLAIN);
    backends.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    backends.revisionGone(REVISION);
    backends.podsGone(REVISION);
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(A), pods());
    assertThat(backends.view(REVISION)).isNull();
  }

  @Test
  void aListenerThatFailsKeepsTheNewsFromNobodyElse() {
    backends.onChange(_ -> {
      throw new IllegalStateException("a bug");
    });
    var heard = new ArrayList<HealthyDestinations>();
    backends.onChange(heard::add);

    backends.revision(PLAIN);
    backends.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    assertThat(heard).containsExactly(pods(A));
  }

  @Test
  void startsAnewWhenTheRevisionIsMadeAnew() {
    backends.revision(revision("1", Protocol.HTTP1, true));
    backends.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    // when the deletion was missed, and the revision has another uid
    backends.revision(revision("2", Protocol.HTTP1, true));
    loop.advance(ofSeconds(5));

    // then what the old one's pods answered does not count
    assertThat(published).containsExactly(pods(A), pods(), pods(A));
    assertThat(fake.asked(A)).hasSize(2);
  }

  @Test
  void goesOnWhenTheRevisionChangesInWhatDoesNotMatterHere() {
    backends.revision(PLAIN);
    backends.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    backends.revision(Revision.of(REVISION, 10));
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(A));
    assertThat(fake.asked(A)).hasSize(1);
  }

  @Test
  void probesAPodThatRequestsCannotReach() {
    backends.revision(PLAIN);
    backends.listed(http1(ready(A, B)));
    loop.advance(ofSeconds(5));

    backends.suspected(REVISION, A);
    loop.advance(ofSeconds(5));

    assertThat(published).endsWith(pods(A, B), pods(B), pods(A, B));
  }

  @Test
  void tellsWhoComesLaterWhatHoldsAndThenWhatChanges() {
    backends.revision(PLAIN);
    backends.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    // when somebody follows while a change is on its way
    var heard = new ArrayList<HealthyDestinations>();
    backends.listed(http1(ready(A, B)));
    var follower = backends.follow(heard::add);
    loop.advance(ofSeconds(5));
    backends.listed(http1(ready(B)));
    loop.advance(ofSeconds(5));

    // then each is told once, until he leaves
    assertThat(heard).containsExactly(pods(A), pods(A, B), pods(B));
    follower.close();
    backends.podsGone(REVISION);
    loop.advance(ofSeconds(5));
    assertThat(heard).hasSize(3);
    assertThat(published).hasSize(4);
  }

  @Test
  void saysNothingTwiceToWhoComesWhileSomethingIsPublished() {
    backends.revision(PLAIN);
    backends.listed(http1(ready(A)));
    loop.run();
    var heard = new ArrayList<HealthyDestinations>();

    // when the pod answers after he has come, and before he was told
    fake.answers(A, FakePods.OK);
    loop.schedule(Duration.ofMillis(1), () -> backends.follow(heard::add));
    loop.advance(ofSeconds(5));

    assertThat(heard).containsExactly(pods(A));
  }

  @Test
  void countsPoliciesThatFailAndWatchesOn() {
    // given a policy that fails at two events of three, those of a new beginning included
    var plain = Fixtures.shared(loop);
    var count = new int[1];
    var shared = new Shared(plain.turns(), plain.random(), (state, event, now) -> {
      if (count[0] >= 0 && ++count[0] % 3 > 0) {
        throw new IllegalStateException("a bug");
      }
      return state.on(event, now);
    }, plain.policyFailures());
    var fragile = new RevisionBackendsManager(id -> loop, BackendSettings.DEFAULT, shared,
        (revision, on) -> fake);
    fragile.onChange(published::add);

    // when pods come and go, and it fails no more
    fragile.revision(PLAIN);
    fragile.listed(http1(ready(A, B)));
    loop.advance(ofSeconds(10));
    fragile.listed(http1(ready(B, C)));
    loop.advance(ofSeconds(10));
    count[0] = -1;
    loop.advance(ofSeconds(3));

    // then those that are listed serve, without any more news from Kubernetes
    assertThat(published.getLast()).isEqualTo(pods(B, C));
    assertThat(fragile.policyFailures()).isPositive();
  }

  @Test
  @DisplayName("MG-12 MG-19 says nothing once stopped, and says when that is")
  void saysNothingOnceStopped() {
    backends.revision(PLAIN);
    backends.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    var stopped = backends.stop();
    backends.listed(http1(ready(B)));
    backends.revisionGone(REVISION);
    assertThat(stopped).isNotDone();
    loop.advance(ofSeconds(5));

    assertThat(stopped).isCompleted();

    assertThat(published).containsExactly(pods(A));
    assertThat(backends.view(REVISION)).isNull();
  }
}
