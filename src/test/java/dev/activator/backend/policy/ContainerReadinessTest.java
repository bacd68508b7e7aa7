package dev.activator.backend.policy;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.policy.ProbeVerdict.Kind;
import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import dev.activator.backend.policy.RevisionWatcherState.Addressed;
import dev.activator.backend.policy.RevisionWatcherState.EndedProbe;
import dev.activator.backend.policy.RevisionWatcherState.Probed;
import dev.activator.backend.policy.RevisionWatcherState.Event;
import dev.activator.backend.policy.RevisionWatcherState.Listed;
import dev.activator.backend.policy.RevisionWatcherState.ProbeNow;
import dev.activator.backend.policy.RevisionWatcherState.Unreachable;
import dev.activator.config.NetworkConfig.MeshMode;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Which pods serve if Kubernetes and our own probe of their container do not agree. */
class ContainerReadinessTest {
  private static final RevisionId ID = new RevisionId("ns", "web");
  private static final Destination POD = new Destination("10.0.0.1", 8080);
  private static final Destination CLUSTER_IP = new Destination("10.1.0.1", 80);

  private enum Probe {
    ANSWERED(ProbeVerdict.ANSWERS),
    SLOW(new ProbeVerdict(Kind.SLOW, "no answer within 1000 ms")),
    NOT_FOUND(ProbeVerdict.ofContainer(404)),
    UNAVAILABLE(ProbeVerdict.ofContainer(503)),
    CLOSED(new ProbeVerdict(Kind.NO_ANSWER, "closed")),
    LOST(new ProbeVerdict(Kind.NO_CONNECTION, "no answer within 300 ms")),
    REFUSED(new ProbeVerdict(Kind.REFUSED, "refused"));

    private final ProbeVerdict verdict;

    Probe(ProbeVerdict verdict) {
      this.verdict = verdict;
    }
  }

  private RevisionWatcherState state = probing(true, true);
  private boolean isProbed;

  private static RevisionWatcherState probing(boolean beforeReady, boolean container) {
    return RevisionWatcherState.of(new ProbePolicy(ID, new MeshAddressing(MeshMode.AUTO, false),
        beforeReady, container, new ProbeBackoff(ofMillis(200))));
  }

  private void on(Event event) {
    var step = state.on(event, Duration.ZERO);
    state = step.next();
    isProbed = step.effects().stream().anyMatch(ProbeNow.class::isInstance);
  }

  private void ready() {
    on(new Listed(new PodsByReadiness(DestinationSet.of(POD), DestinationSet.NONE)));
  }

  private void notReady() {
    on(new Listed(new PodsByReadiness(DestinationSet.NONE, DestinationSet.of(POD))));
  }

  private void probe(Probe probe) {
    on(new Probed(List.of(new EndedProbe(POD, probe.verdict, Duration.ZERO))));
  }

  private boolean serves() {
    return state instanceof RevisionProbingState now && now.published().pods().contains(POD);
  }

  @ParameterizedTest
  @CsvSource({"ANSWERED,true", "SLOW,true", "NOT_FOUND,true", "UNAVAILABLE,true", "CLOSED,false",
      "LOST,false", "REFUSED,false"})
  void aPodThatKubernetesCallsReadyServes_ifItAcceptsConnections(Probe probe, boolean serves) {
    ready();
    probe(probe);

    assertThat(serves()).isEqualTo(serves);
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "ANSWERED")
  void aPodThatIsNotReadyServes_onlyIfItsProbeIsAnswered(Probe probe) {
    notReady();
    probe(probe);
    assertThat(serves()).isFalse();

    on(new RevisionWatcherState.Due(POD));
    probe(Probe.ANSWERED);
    assertThat(serves()).as("before Kubernetes calls it ready").isTrue();
  }

  @ParameterizedTest
  @CsvSource({"SLOW,true", "NOT_FOUND,true", "REFUSED,false"})
  void becomingReadyIsEnough_ifTheLastProbeFoundThatThePodAcceptsConnections(Probe probe,
      boolean serves) {
    notReady();
    probe(probe);
    ready();

    assertThat(serves()).isEqualTo(serves);
    assertThat(isProbed).isEqualTo(!serves);
  }

  @Test
  void aPodThatWasUnreadyOnceComesBackWithASlowHealthEndpoint() {
    // given a pod that served, and stops at its unreadiness and slow probe
    ready();
    probe(Probe.ANSWERED);
    notReady();
    probe(Probe.SLOW);
    assertThat(serves()).isFalse();

    ready();
    assertThat(serves()).isTrue();

    notReady();
    assertThat(serves()).as("only its readiness let it serve").isFalse();
  }

  @Test
  void aPodThatCouldNotBeReachedServes_onlyAfterAnotherProbe() {
    ready();
    probe(Probe.SLOW);
    on(new Unreachable(POD));
    assertThat(serves()).isFalse();

    on(new RevisionWatcherState.Due(POD));
    probe(Probe.SLOW);
    assertThat(serves()).isTrue();
  }

  @Test
  void a503OfAMesh_leadsToTheClusterIpWhereThereIsOne() {
    on(new Addressed(CLUSTER_IP));
    ready();
    probe(Probe.UNAVAILABLE);

    assertThat(serves()).isFalse();
    assertThat(isProbed).as("the ClusterIP").isTrue();
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "ANSWERED")
  void aQueueProxyMustAnswer_whateverKubernetesSays(Probe probe) {
    state = probing(true, false);
    ready();
    probe(probe);

    assertThat(serves()).isFalse();
  }

  @Test
  void readinessIsNecessary_whereOnlyKubernetesKnowsIt() {
    state = probing(false, true);
    notReady();
    probe(Probe.ANSWERED);
    assertThat(serves()).isFalse();

    ready();
    assertThat(serves()).isTrue();
    notReady();
    assertThat(serves()).isFalse();
  }
}
