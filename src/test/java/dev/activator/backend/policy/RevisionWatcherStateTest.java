package dev.activator.backend.policy;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.backend.policy.ProbeVerdict.Kind;
import dev.activator.backend.policy.ProbeQueue.Urgency;
import dev.activator.backend.policy.ProbePolicy.MeshAddressing;
import dev.activator.backend.policy.RevisionWatcherState.Addressed;
import dev.activator.backend.policy.RevisionWatcherState.EndedProbe;
import dev.activator.backend.policy.RevisionWatcherState.Probed;
import dev.activator.backend.policy.RevisionWatcherState.RequestWaits;
import dev.activator.backend.policy.RevisionWatcherState.Ended;
import dev.activator.backend.policy.RevisionWatcherState.Due;
import dev.activator.backend.policy.RevisionWatcherState.Effect;
import dev.activator.backend.policy.RevisionWatcherState.Event;
import dev.activator.backend.policy.RevisionWatcherState.Hurry;
import dev.activator.backend.policy.RevisionWatcherState.Listed;
import dev.activator.backend.policy.RevisionWatcherState.ProbeLater;
import dev.activator.backend.policy.RevisionWatcherState.ProbeNow;
import dev.activator.backend.policy.RevisionWatcherState.Publish;
import dev.activator.backend.policy.RevisionWatcherState.Stopped;
import dev.activator.backend.policy.RevisionWatcherState.Unreachable;
import dev.activator.config.NetworkConfig.MeshMode;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.HealthyDestinations;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PodsByReadiness.Identity;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Events in an order that fake pods do not produce; {@code WatcherRowsTest} has the others. */
class RevisionWatcherStateTest {
  private static final RevisionId ID = new RevisionId("ns", "rev");
  private static final Destination A = new Destination("10.0.0.1", 8012);
  private static final Destination B = new Destination("10.0.0.2", 8012);
  private static final Destination C = new Destination("10.0.0.3", 8012);
  private static final Destination CIP = new Destination("10.1.0.1", 80);
  private static final Destination OTHER_CIP = new Destination("10.1.0.2", 80);
  private static final ProbeVerdict OK = ProbeVerdict.of(200, "queue");
  private static final ProbeVerdict MESH = ProbeVerdict.of(503, "");
  private static final ProbeVerdict REFUSED = new ProbeVerdict(Kind.REFUSED,
      "connection refused");

  private RevisionWatcherState state = watching(MeshMode.AUTO);
  private Duration now = Duration.ZERO;

  private static RevisionWatcherState watching(MeshMode mesh) {
    return RevisionWatcherState.of(new ProbePolicy(ID, new MeshAddressing(mesh, false), true, false,
        new ProbeBackoff(ofMillis(200))));
  }

  private List<Effect> on(Event event) {
    var step = state.on(event, now);
    state = step.next();
    return step.effects();
  }

  private List<Effect> ready(Destination... pods) {
    return on(new Listed(new PodsByReadiness(DestinationSet.of(pods), DestinationSet.NONE)));
  }

  private List<Effect> notReady(Destination... pods) {
    return on(new Listed(new PodsByReadiness(DestinationSet.NONE, DestinationSet.of(pods))));
  }

  private List<Effect> answers(Destination from, ProbeVerdict verdict) {
    return on(new Probed(List.of(new EndedProbe(from, verdict, Duration.ZERO))));
  }

  private static Effect probe(Destination destination) {
    return new ProbeNow(destination, Urgency.FIRST);
  }

  private static Effect probeInItsTurn(Destination destination) {
    return new ProbeNow(destination, Urgency.UNAWAITED);
  }

  private static Effect publish(Destination... pods) {
    return new Publish(HealthyDestinations.pods(ID, DestinationSet.of(pods)));
  }

  private DurationEstimate start() {
    return ((RevisionProbingState) state).start();
  }

  private boolean isProbing(Destination destination) {
    return ((RevisionProbingState) state).isProbing(destination);
  }

  @Test
  void aPodThatLeftAndCameBackIsProbedOnceItsOldProbeHasEnded() {
    ready(A);
    ready();

    assertThat(ready(A)).isEmpty();
    // and its answer is that of the pod before
    assertThat(answers(A, OK)).containsExactly(probeInItsTurn(A));
    assertThat(answers(A, OK)).containsExactly(publish(A));
  }

  @Test
  void theFirstAnswersCanWaitUntilARequestWaits() {
    assertThat(ready(A, B)).containsExactly(probeInItsTurn(A), probeInItsTurn(B));

    assertThat(on(new RequestWaits())).containsExactly(new Hurry());
    assertThat(on(new RequestWaits())).isEmpty();
    assertThat(ready(A, B, C)).containsExactly(probe(C));
  }

  @Test
  void aPodBesideOneThatServesIsProbedAtOnce() {
    ready(A);
    answers(A, OK);

    assertThat(ready(A, B)).containsExactly(probe(B));
  }

  @Test
  void aWaitingRequestHurriesTheProbeOfAPodThatLeftAndMayReturn() {
    ready(A);
    ready();

    assertThat(on(new RequestWaits())).containsExactly(new Hurry());
    ready(A);
    assertThat(answers(A, OK)).containsExactly(probe(A));
  }

  @Test
  void aWaitingRequestHurriesTheClusterIpToo() {
    ready(A);
    on(new Addressed(CIP));
    assertThat(answers(A, MESH)).contains(probeInItsTurn(CIP));

    assertThat(on(new RequestWaits())).containsExactly(new Hurry());
  }

  @Test
  void aPodWhoseProbeEndedWhileItWasAwayIsProbedAtOnce() {
    ready(A);
    ready();
    assertThat(answers(A, OK)).isEmpty();

    assertThat(ready(A)).containsExactly(probeInItsTurn(A));
  }

  @Test
  void anAnswerFromBeforeAPodBecameUnreadyDoesNotCount() {
    ready(A);
    notReady(A);

    assertThat(answers(A, OK)).containsExactly(probeInItsTurn(A));
  }

  @Test
  void anUnexpectedAnswerChangesNothing() {
    ready(A);
    answers(A, REFUSED);

    assertThat(isProbing(A)).isFalse();
    assertThat(answers(A, OK)).isEmpty();
    assertThat(on(new Due(A))).hasSize(1);
    assertThat(isProbing(A)).isTrue();
    assertThat(isProbing(B)).isFalse();
  }

  @Test
  void aFailedProbeOfAPodThatServesByReadinessChangesNothing() {
    state = watching(MeshMode.DISABLED);
    notReady(A);
    assertThat(ready(A)).containsExactly(publish(A));

    assertThat(answers(A, REFUSED)).isEmpty();
    assertThat(on(new Due(A))).isEmpty();
  }

  @Test
  void aStartIsLearnedFromAPodThatFailedBeforeItAnswered() {
    notReady(A);
    now = ofMillis(500);
    answers(A, REFUSED);
    assertThat(start()).isNull();

    now = ofSeconds(2);
    on(new Due(A));
    answers(A, OK);
    assertThat(start()).isEqualTo(new DurationEstimate(ofSeconds(2), ofSeconds(1)));

    // one that answers at once may have begun long ago
    now = ofSeconds(9);
    notReady(A, B);
    answers(B, OK);
    assertThat(start()).isEqualTo(new DurationEstimate(ofSeconds(2), ofSeconds(1)));
  }

  @Test
  void anAnswerThatDoesNotCountMeasuresNoStart() {
    notReady(A);
    answers(A, REFUSED);
    now = ofSeconds(2);
    answers(A, OK);

    assertThat(start()).isNull();
  }

  @Test
  void aPodThatStartsIsProbedRarelyBeforeItIsExpectedAndAReadyOneIsNot() {
    // given many starts of two seconds
    for (int i = 0; i < 9; i++) {
      notReady(A);
      answers(A, REFUSED);
      now = now.plusSeconds(2);
      on(new Due(A));
      answers(A, OK);
      ready();
    }

    on(new Listed(new PodsByReadiness(DestinationSet.of(A), DestinationSet.of(B))));

    assertThat(answers(B, REFUSED)).containsExactly(new ProbeLater(B, ofMillis(200)));
    assertThat(answers(A, REFUSED)).containsExactly(new ProbeLater(A, ofMillis(10)));
  }

  private static Effect repeat(Destination destination) {
    return new ProbeNow(destination, Urgency.FAILING_LONG);
  }

  /** A minute after it was listed, its probe fails. */
  private void failsForAMinute(Destination... pods) {
    ready(pods);
    now = ofSeconds(60);
    for (var pod : pods) {
      answers(pod, REFUSED);
    }
  }

  @Test
  void aPodThatFailedForAMinuteIsProbedRarelyWhileNoRequestWaits() {
    ready(A);
    now = ofMillis(59_999);
    assertThat(answers(A, REFUSED)).containsExactly(new ProbeLater(A, ofMillis(399)
        .plusNanos(993_333)));

    now = ofSeconds(60);
    on(new Due(A));
    assertThat(answers(A, REFUSED)).containsExactly(new ProbeLater(A, ofSeconds(15)));
  }

  @Test
  void aWaitingRequestEndsTheLongPausesOfAllPods() {
    failsForAMinute(A, B);

    assertThat(on(new RequestWaits())).containsExactly(repeat(A), repeat(B));

    // and while it waits, they are probed as before
    now = ofSeconds(61);
    assertThat(on(new RequestWaits())).isEmpty();
    assertThat(answers(A, REFUSED))
        .containsExactly(new ProbeLater(A, ofSeconds(61).dividedBy(150)));
    assertThat(on(new RequestWaits())).isEmpty();

    // and rarely again a minute after the last one
    now = ofSeconds(121);
    assertThat(answers(B, REFUSED)).containsExactly(new ProbeLater(B, ofSeconds(15)));
  }

  @Test
  void aWaitingRequestEndsNoPauseOfAPodThatMayBeStarting() {
    ready(A);
    now = ofSeconds(59);
    answers(A, REFUSED);

    assertThat(on(new RequestWaits())).isEmpty();
  }

  @Test
  void aPodThatBecomesReadyOrUnreadyIsProbedAtOnceThoughNoRequestWaits() {
    failsForAMinute(A);
    assertThat(notReady(A)).containsExactly(probeInItsTurn(A));
    now = ofSeconds(120);
    answers(A, REFUSED);
    assertThat(ready(A)).containsExactly(probeInItsTurn(A));
  }

  @Test
  void aClusterIpThatFailedForAMinuteIsProbedWhenARequestWaits() {
    ready(A);
    on(new Addressed(CIP));
    answers(A, REFUSED);
    now = ofSeconds(60);
    assertThat(answers(CIP, REFUSED)).containsExactly(new ProbeLater(CIP, ofSeconds(15)));

    assertThat(on(new RequestWaits())).containsExactly(repeat(A), repeat(CIP));
  }

  @Test
  void aWaitingRequestDoesNotHurryThePodsBehindAClusterIpThatServes() {
    serveThroughTheClusterIp();
    now = ofSeconds(60);

    assertThat(on(new RequestWaits())).isEmpty();
  }

  @Test
  void anUnreachablePodIsProbedAtOnceIfItServedForAWhile() {
    ready(A);
    answers(A, OK);
    now = ofMillis(200);

    assertThat(on(new Unreachable(A))).containsExactly(publish(), probe(A));
  }

  @Test
  void anUnreachablePodThatServedForAMomentIsProbedAfterAPause() {
    ready(A);
    answers(A, OK);
    now = ofMillis(199);

    assertThat(on(new Unreachable(A))).containsExactly(publish(), new ProbeLater(A, ofMillis(200)));
    assertThat(on(new Unreachable(A))).isEmpty();
  }

  @Test
  void anUnreachablePodWhoseProbeIsInFlightIsProbedOnceThatHasEnded() {
    ready(A);
    answers(A, OK);
    notReady(A);

    assertThat(on(new Unreachable(A))).containsExactly(publish());
    assertThat(answers(A, OK)).containsExactly(probe(A));
  }

  @Test
  void theSameClusterIpChangesNothing() {
    ready(A);
    on(new Addressed(CIP));
    answers(A, MESH);

    assertThat(on(new Addressed(CIP))).isEmpty();
    assertThat(isProbing(CIP)).isTrue();
  }

  @Test
  void anotherClusterIpIsProbedAndTheAnswerOfTheOldOneDoesNotCount() {
    ready(A);
    on(new Addressed(CIP));
    answers(A, MESH);

    assertThat(on(new Addressed(OTHER_CIP))).containsExactly(probeInItsTurn(OTHER_CIP));
    assertThat(answers(CIP, OK)).isEmpty();
    assertThat(answers(OTHER_CIP, OK)).containsExactly(
        new Publish(new HealthyDestinations(ID, OTHER_CIP, DestinationSet.of(A))));
  }

  @Test
  void aClusterIpThatComesBackIsProbedOnceItsOldProbeHasEnded() {
    ready(A);
    on(new Addressed(CIP));
    answers(A, MESH);

    assertThat(on(new Addressed(null))).isEmpty();
    assertThat(isProbing(CIP)).isFalse();
    assertThat(on(new Addressed(CIP))).isEmpty();
    assertThat(answers(CIP, OK)).containsExactly(probeInItsTurn(CIP));
  }

  @Test
  void aClusterIpWhoseProbeEndedMeanwhileIsProbedAtOnce() {
    ready(A);
    on(new Addressed(CIP));
    answers(A, MESH);
    answers(CIP, OK);
    on(new Addressed(null));

    assertThat(on(new Addressed(CIP))).containsExactly(probeInItsTurn(CIP));
  }

  @Test
  void anUnexpectedAnswerOfTheClusterIpChangesNothing() {
    ready(A);
    on(new Addressed(CIP));

    assertThat(answers(CIP, OK)).isEmpty();
    assertThat(answers(A, OK)).containsExactly(publish(A));
  }

  @Test
  void aDeletedRevisionPublishesThatNothingServesIfSomethingDid() {
    var before = state;
    assertThat(on(new Ended())).isEmpty();
    assertThat(state).isEqualTo(new Stopped());

    state = before;
    ready(A);
    answers(A, OK);
    assertThat(on(new Ended())).containsExactly(publish());
    assertThat(ready(A)).isEmpty();
  }

  @Test
  void aPodThatEndsServesOnlyWhileNoOtherDoes() {
    ready(A, B);
    answers(A, OK);
    answers(B, OK);

    var ending = DestinationSet.of(A);
    assertThat(
        on(new Listed(new PodsByReadiness(DestinationSet.of(A, B), DestinationSet.NONE, ending,
            Map.of()))))
        .containsExactly(publish(B));
    assertThat(on(new Listed(new PodsByReadiness(ending, DestinationSet.NONE, ending, Map.of()))))
        .containsExactly(publish(A));
  }

  @Test
  void keepsServing_whenAPodsIdentityIsNoLongerListed() {
    on(new Listed(
        new PodsByReadiness(DestinationSet.of(A), DestinationSet.NONE, DestinationSet.NONE,
            Map.of(A, new Identity("u", "1")))));
    answers(A, OK);

    assertThat(ready(A)).isEmpty();
  }

  private void serveThroughTheClusterIp() {
    ready(A);
    on(new Addressed(CIP));
    answers(A, MESH);
    answers(CIP, OK);
  }

  @Test
  void aClusterIpThatServedIsNotProbedAgainWhenPodsAreReadyAgain() {
    serveThroughTheClusterIp();

    assertThat(notReady(A)).contains(publish());
    assertThat(ready(A)).contains(
        new Publish(new HealthyDestinations(ID, CIP, DestinationSet.of(A))));
    assertThat(isProbing(CIP)).isFalse();
  }

  @Test
  void aClusterIpThatCouldNotBeReachedIsForgivenOnceNoPodIsReady() {
    serveThroughTheClusterIp();
    on(new Unreachable(CIP));

    ready(A, B);
    assertThat(((RevisionProbingState) state).clusterIp().isUnreachable()).isTrue();
    notReady(A, B);
    assertThat(((RevisionProbingState) state).clusterIp().isUnreachable()).isFalse();
  }
}
