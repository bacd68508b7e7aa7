package dev.activator.backend;

import static dev.activator.backend.Fixtures.A;
import static dev.activator.backend.Fixtures.B;
import static dev.activator.backend.Fixtures.CLUSTER_IP;
import static dev.activator.backend.Fixtures.REVISION;
import static dev.activator.backend.Fixtures.notReady;
import static dev.activator.backend.Fixtures.pods;
import static dev.activator.backend.Fixtures.ready;
import static dev.activator.backend.Fixtures.viaClusterIp;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.policy.ProbeOutcome;
import dev.activator.revision.ClusterIp;
import dev.activator.revision.Destinations;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.Listing;
import dev.activator.revision.PodListing;
import dev.activator.revision.Protocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
        Map.of(), Map.of(), null);
  }

  @Test
  void watchesARevision_MG01() {
    fake.answers(A, List.of(ProbeOutcome.of(503, ""), FakePods.OK));
    fake.answers(CLUSTER_IP, FakePods.REFUSED);
    backends.revision(PLAIN);
    backends.clusterIp(new ClusterIp(REVISION, CLUSTER_IP, null));
    backends.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(A));
  }

  @Test
  void listensToThePortOfTheRevisionsProtocol_MG02() {
    backends.revision(revision("1", Protocol.H2C, true));
    backends.listed(new PodListing(REVISION, ready(A), ready(B)));
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(B));
  }

  @Test
  void keepsRevisionsApart_MG03() {
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
  void remembersEndpointsAndServiceUntilTheRevisionIsKnown_MG17() {
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
  void waitsForKubernetesWhereAnExecProbeDecides_MG08() {
    backends.revision(revision("1", Protocol.HTTP1, false));
    backends.listed(http1(notReady(A)));
    loop.advance(ofSeconds(5));

    assertThat(published).isEmpty();
  }

  @Test
  void takesPodsBackWhenEndpointsAreDeleted_MG13() {
    backends.revision(PLAIN);
    backends.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    backends.podsGone(REVISION);
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(A), pods());
  }

  @Test
  void watchesAgainWhenEndpointsComeBack_MG20() {
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
  void saysNothingOnceStopped_MG12_MG19() {
    backends.revision(PLAIN);
    backends.listed(http1(ready(A)));
    loop.advance(ofSeconds(5));

    backends.stop();
    backends.listed(http1(ready(B)));
    backends.revisionGone(REVISION);
    loop.advance(ofSeconds(5));

    assertThat(published).containsExactly(pods(A));
    assertThat(backends.view(REVISION)).isNull();
  }
}
