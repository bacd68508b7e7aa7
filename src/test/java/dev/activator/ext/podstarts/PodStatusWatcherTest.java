package dev.activator.ext.podstarts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.discovery.PodStarts;
import dev.activator.kube.decode.DecodedObjectHandler;
import dev.activator.ext.podstarts.policy.NodeEvent;
import dev.activator.ext.podstarts.policy.StartingPodSet.GracePeriods;
import dev.activator.ext.podstarts.policy.PodStartStatus.FailureReason;
import dev.activator.ext.podstarts.policy.PodStartStatus.Persistence;
import dev.activator.ext.podstarts.policy.PodStartStatus;
import dev.activator.kube.reflector.ListWatchAccess;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import dev.activator.testing.Seeds;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.VirtualLoop;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PodStatusWatcherTest {
  private static final RevisionId REVISION = new RevisionId("ns", "rev");
  private static final FailureReason PULL = new FailureReason(Persistence.RETRIED, "ErrImagePull",
      "no such image");
  private static final FailureReason BACK_OFF = new FailureReason(Persistence.RETRIED,
      "ImagePullBackOff",
      "");
  private static final FailureReason CRASH = new FailureReason(Persistence.PERMANENT,
      "CrashLoopBackOff",
      "");
  private static final FailureReason NO_NODE = new FailureReason(Persistence.UNSCHEDULED,
      "Unschedulable",
      "0/3 nodes");

  private final VirtualLoop loop = VirtualLoop.nearOverflow();
  private final Map<RevisionId, DecodedObjectHandler.ChangeListener<PodStartStatus>> followed = new HashMap<>();
  private final Map<String, PodStartStatus> pods = new TreeMap<>();
  private final List<String> received = new ArrayList<>();
  private final List<String> progress = new ArrayList<>();
  private @Nullable ListWatchAccess answer = ListWatchAccess.ALLOWED;
  private int questions;
  private final Map<String, DecodedObjectHandler.ChangeListener<NodeEvent>> eventsFollowed = new TreeMap<>();
  private ListWatchAccess eventAnswer = ListWatchAccess.ALLOWED;
  private int eventQuestions;
  private GracePeriods grace = GracePeriods.DEFAULT;
  private Duration node = Duration.ZERO;
  private String message = "";
  /** Which selects the pods. */
  private String service = "one";
  private final TestRevisions revisions = new TestRevisions(loop, Revision.of(REVISION, 1));
  private final PodStarts starts = new PodStarts();
  private final PodStatusWatcher watcher = new PodStatusWatcher(revisions.live, loop,
      new PodStatusWatcher.PodSource() {
        @Override
        public CompletableFuture<ListWatchAccess> mayList(String namespace) {
          questions++;
          return answer == null
              ? CompletableFuture.failedFuture(new IOException("no answer"))
              : CompletableFuture.completedFuture(answer);
        }

        @Override
        public String selector(RevisionId revision) {
          return revision.name() + " of " + service;
        }

        @Override
        public Runnable follow(String namespace, String labels,
            DecodedObjectHandler.ChangeListener<PodStartStatus> listener) {
          var revision = new RevisionId(namespace, labels.split(" ")[0]);
          followed.put(revision, listener);
          return () -> followed.remove(revision, listener);
        }

        @Override
        public CompletableFuture<ListWatchAccess> mayWatchEvents(String namespace) {
          eventQuestions++;
          return CompletableFuture.completedFuture(eventAnswer);
        }

        @Override
        public Runnable followEvents(String namespace, String pod,
            DecodedObjectHandler.ChangeListener<NodeEvent> listener) {
          eventsFollowed.put(pod, listener);
          return () -> eventsFollowed.remove(pod, listener);
        }
      }, () -> grace, this::now, starts);

  PodStatusWatcherTest() {
    starts.failures().subscribe("test", now -> {
      var failure = now.failure();
      received.add(failure == null ? "may start" : failure.reason());
    });
    starts.progress().subscribe("test", now -> {
      progress.add((now.pod() + " " + now.ends().keySet() + " " + now.reason()).trim());
      node = now.node();
      message = now.message();
    });
    starts.progressEnded().subscribe("test", _ -> progress.add("ended"));
  }

  private Instant now() {
    return Instant.EPOCH.plus(loop.elapsed());
  }

  /** An autoscaler says that about a pod. */
  private void said(String pod, String reason) {
    said(pod, reason, "cluster-autoscaler", now());
  }

  private void said(String pod, String reason, String by, Instant at) {
    var uid = "uid of " + pod;
    var event = new NodeEvent(uid, by, Objects.requireNonNull(NodeEvent.outlook(reason, "")),
        reason, "why", at);
    Objects.requireNonNull(eventsFollowed.get(uid)).changed(null, event);
  }

  /** Requests wait for so long; it is said once a second. */
  private void wait(int seconds) {
    for (int i = 0; i < seconds; i++) {
      watcher.onRequestWaits(REVISION);
      loop.advance(Duration.ofSeconds(1));
    }
  }

  private void pod(String name, @Nullable FailureReason failure) {
    pod(new PodStartStatus(name, "uid of " + name, failure, Map.of()));
  }

  private void pod(PodStartStatus now) {
    var before = pods.put(now.name(), now);
    Objects.requireNonNull(followed.get(REVISION)).changed(before, now);
  }

  private void gone(String name) {
    Objects.requireNonNull(followed.get(REVISION)).changed(pods.remove(name), null);
  }

  @Test
  void saysWhatLastsAtOnceAndWhatMayPassAfterThreeSeconds() {
    wait(1);
    pod("a", PULL);
    wait(2);
    pod("a", BACK_OFF);
    assertThat(received).isEmpty();

    wait(1);
    assertThat(received).containsExactly("ImagePullBackOff");

    pod("a", CRASH);
    assertThat(received).containsExactly("ImagePullBackOff", "CrashLoopBackOff");
  }

  @Test
  void forgetsThePodsOfAServiceThatIsNoLongerNamed_whileRequestsWait() {
    wait(1);
    pod("a", CRASH);
    assertThat(received).containsExactly("CrashLoopBackOff");

    service = "another";
    wait(20);

    assertThat(received).containsExactly("CrashLoopBackOff", "may start");
  }

  @Test
  void waitsAMinuteForANode() {
    wait(1);
    pod("a", NO_NODE);
    wait(59);
    assertThat(received).isEmpty();

    wait(1);
    assertThat(received).containsExactly("Unschedulable");
  }

  @Test
  void waitsForANodeThatIsComing_andLearnsHowLongThatTakes() {
    wait(1);
    pod(new PodStartStatus("a", "uid of a", NO_NODE, Map.of(StartPhase.CREATE, Instant.EPOCH)));
    wait(10);
    assertThat(node).isZero();
    said("a", "TriggeredScaleUp");
    assertThat(node).isEqualTo(Duration.ofMinutes(1));
    assertThat(progress).last().isEqualTo("a [create] TriggeredScaleUp");
    wait(84);
    pod(new PodStartStatus("a", "uid of a", null, Map.of(StartPhase.CREATE, Instant.EPOCH,
        StartPhase.SCHEDULE, Instant.EPOCH.plusSeconds(95))));
    wait(20);

    assertThat(received).isEmpty();
    assertThat(node).isZero();
    assertThat(eventsFollowed).isEmpty();

    pod("b", NO_NODE);
    gone("a");
    wait(1);
    said("b", "Nominated");
    assertThat(node).isEqualTo(Duration.ofSeconds(95));
  }

  @Test
  void saysWithinThreeSecondsThatNoNodeCanCome() {
    wait(1);
    pod("a", NO_NODE);
    wait(10);
    said("a", "NotTriggerScaleUp");
    wait(2);
    assertThat(received).isEmpty();

    wait(1);
    assertThat(received).containsExactly("NotTriggerScaleUp");
    wait(30);
    said("a", "TriggeredScaleUp");
    wait(30);
    assertThat(received).containsExactly("NotTriggerScaleUp", "may start");
  }

  @Test
  void waitsAMinuteMore_whereTheNodeDoesNotComeAndNothingIsSaidAnyMore() {
    wait(1);
    pod("a", NO_NODE);
    wait(1);
    said("a", "TriggeredScaleUp");
    wait(15 * 60 + 59);
    assertThat(received).isEmpty();

    wait(3);
    assertThat(received).containsExactly("Unschedulable");
  }

  @Test
  void saysInTheWordsOfTheKubelet_whyAPodIsNotPrepared() {
    wait(1);
    pod("a", FailureReason.notPrepared());
    wait(2);
    assertThat(eventsFollowed).as("watches during an ordinary start").isEmpty();
    wait(2);
    said("a", "FailedMount", "kubelet", now());
    assertThat(progress).last().isEqualTo("a [] FailedMount");
    assertThat(message).isEqualTo("why");

    said("a", "FailedAttachVolume", "attachdetach-controller", now().minusSeconds(9));
    assertThat(progress).last().isEqualTo("a [] FailedMount");
    wait(60);
    assertThat(received).containsExactly("FailedMount");

    pod("a", null);
    assertThat(progress).last().isEqualTo("a []");
    assertThat(received).containsExactly("FailedMount", "may start");
    wait(1);
    assertThat(eventsFollowed).isEmpty();
  }

  @Test
  void waitsForANode_whereEachPodIsAlwaysScheduled() {
    grace = new GracePeriods(grace.retried(), grace.slow(), grace.unscheduled(), true);
    wait(1);
    pod("a", NO_NODE);
    wait(1);
    said("a", "NotTriggerScaleUp");
    wait(600);

    assertThat(received).isEmpty();
    assertThat(progress).last().isEqualTo("a [] Unschedulable");
  }

  @Test
  void readsEventsOfAFewPodsThatNoNodeTakes_whileRequestsWait() {
    wait(1);
    pod("a", PULL);
    wait(1);
    assertThat(eventQuestions).isZero();

    for (var name : List.of("b", "c", "d", "e")) {
      pod(name, NO_NODE);
    }
    wait(1);
    assertThat(eventQuestions).isEqualTo(1);
    assertThat(eventsFollowed).containsOnlyKeys("uid of b", "uid of c", "uid of d");

    pod("b", null);
    assertThat(eventsFollowed).containsOnlyKeys("uid of c", "uid of d", "uid of e");

    loop.advance(PodStatusWatcher.LEASE);
    assertThat(eventsFollowed).isEmpty();
    assertThat(loop.pending()).isZero();
  }

  @Test
  void waitsAMinuteForANode_whereEventsMayNotBeRead() {
    eventAnswer = ListWatchAccess.FORBIDDEN;
    wait(1);
    pod("a", NO_NODE);
    wait(59);
    assertThat(received).isEmpty();
    assertThat(eventQuestions).isEqualTo(1);
    assertThat(message)
        .isEqualTo("0/3 nodes; whether a node is added is not known, as the activator"
            + " may not list and watch events -n ns (chart value rbac.events)");

    wait(1);
    assertThat(received).containsExactly("Unschedulable");
  }

  @Test
  void anErrorThatPassesIsNone() {
    wait(1);
    pod("a", PULL);
    wait(2);
    pod("a", null);
    wait(2);
    pod("a", PULL);
    wait(2);

    assertThat(received).isEmpty();
  }

  @Test
  void onePodThatMayStartIsEnough() {
    wait(1);
    pod("a", CRASH);
    pod("b", null);
    wait(5);
    assertThat(received).containsExactly("CrashLoopBackOff", "may start");

    gone("b");
    assertThat(received).last().isEqualTo("CrashLoopBackOff");

    pod("a", null);
    assertThat(received).last().isEqualTo("may start");
  }

  @Test
  void reportsHowFarThePodIsThatIsFurthest_whileRequestsWait() {
    wait(1);
    pod(new PodStartStatus("a", "uid of a", NO_NODE, Map.of(StartPhase.CREATE, Instant.EPOCH)));
    pod("b", null);
    gone("a");
    loop.advance(PodStatusWatcher.LEASE);

    assertThat(progress).containsExactly("[]", "a [create] Unschedulable",
        "b []", "ended");
  }

  @Test
  void reportsNothingOfPodsThatItMayNotRead() {
    answer = ListWatchAccess.FORBIDDEN;
    wait(30);

    assertThat(progress).isEmpty();
  }

  @Test
  void readsOnlyWhileRequestsWait() {
    wait(1);
    pod("a", CRASH);
    loop.advance(PodStatusWatcher.LEASE);

    assertThat(followed).isEmpty();
    assertThat(received).containsExactly("CrashLoopBackOff", "may start");
    assertThat(loop.pending()).isZero();
  }

  @Test
  void readsRarely_whereItMayNot() {
    answer = ListWatchAccess.FORBIDDEN;
    wait(30);
    assertThat(questions).isEqualTo(1);

    loop.advance(AccessPauses.AFTER_REFUSAL);
    answer = ListWatchAccess.ALLOWED;
    wait(1);
    assertThat(questions).isEqualTo(2);
    assertThat(followed).isNotEmpty();
  }

  @Test
  void readsAgainHalfAMinuteAfterAFailure() {
    // given nobody says whether we may look, such as where our credentials are not known
    answer = null;
    wait(30);
    assertThat(questions).isEqualTo(1);

    answer = ListWatchAccess.ALLOWED;
    wait(1);
    assertThat(questions).isEqualTo(2);
    assertThat(followed).isNotEmpty();
  }

  @Test
  void readsANamespace_thoughAnotherGaveNoAnswer() {
    answer = null;
    wait(1);

    watcher.onRequestWaits(revisions.begun(new RevisionId("other", "rev")).id());
    loop.run();

    assertThat(questions).isEqualTo(2);
  }

  @Test
  void readsPodsOfALimitedNumberOfRevisions() {
    for (int i = 0; i < 2 * PodStatusWatcher.MAX_REVISIONS; i++) {
      watcher.onRequestWaits(revisions.begun(new RevisionId("ns", "r" + i)).id());
    }
    loop.run();

    assertThat(followed).hasSize(PodStatusWatcher.MAX_REVISIONS);
  }

  @Test
  void endsTheWatchOfADeletedRevision_andBeginsNoOther() {
    wait(1);
    pod("a", CRASH);

    revisions.remove(REVISION);
    wait(1);

    assertThat(followed).isEmpty();
    assertThat(received).containsExactly("CrashLoopBackOff", "may start");
    assertThat(progress).last().isEqualTo("ended");
  }

  /** A pod as the test remembers it: its failure, and since when it has failed that persistently. */
  private record Remembered(@Nullable FailureReason failure, Duration since) {}

  @Test
  void reportsExactlyWhileNoPodMayStart() {
    Seeds.each(seed -> new PodStatusWatcherTest().reportsExactlyWhileNoPodMayStart(seed));
  }

  private void reportsExactlyWhileNoPodMayStart(long seed) {
    var random = new Random(seed);
    var failures = new FailureReason[]{null, null, PULL, BACK_OFF, CRASH, NO_NODE};
    var remembered = new TreeMap<String, Remembered>();
    wait(1);
    for (int i = 0; i < 60; i++) {
      var name = "p" + random.nextInt(3);
      if (random.nextInt(4) == 0 && pods.containsKey(name)) {
        gone(name);
        remembered.remove(name);
      } else {
        var failure = failures[random.nextInt(failures.length)];
        pod(name, failure);
        var before = remembered.get(name);
        boolean same = before != null && sort(before.failure()).equals(sort(failure));
        remembered.put(name, new Remembered(failure, same ? before.since() : loop.elapsed()));
      }
      wait(random.nextInt(random.nextInt(10) == 0 ? 70 : 5));

      boolean none = !remembered.isEmpty()
          && remembered.values().stream().allMatch(this::isOver);
      boolean said = !received.isEmpty() && !received.getLast().equals("may start");
      assertThat(said).isEqualTo(none);
    }
  }

  private static String sort(@Nullable FailureReason failure) {
    return failure == null ? "none" : failure.persistence().toString();
  }

  private boolean isOver(Remembered pod) {
    int patience = switch (sort(pod.failure())) {
      case "PERMANENT" -> 0;
      case "RETRIED" -> 3;
      case "UNSCHEDULED" -> 60;
      default -> Integer.MAX_VALUE;
    };
    return loop.elapsed().minus(pod.since()).toSeconds() >= patience;
  }
}
