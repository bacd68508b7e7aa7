package dev.activator.ext.podstarts;

import static dev.activator.throttle.OneRevision.A;
import static dev.activator.throttle.OneRevision.ID;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.discovery.PodStarts;
import dev.activator.throttle.HeldRequest;
import dev.activator.throttle.OneRevision;
import dev.activator.ext.podstarts.PodStatusWatcher;
import dev.activator.ext.podstarts.policy.NodeEvent;
import dev.activator.ext.podstarts.policy.NodeEvent.Outlook;
import dev.activator.ext.podstarts.policy.PodStartStatus;
import dev.activator.ext.podstarts.policy.PodStartStatus.FailureReason;
import dev.activator.ext.podstarts.policy.StartingPodSet.GracePeriods;
import dev.activator.kube.decode.DecodedObjectHandler.ChangeListener;
import dev.activator.kube.reflector.ListWatchAccess;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartFailure;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import dev.activator.throttle.ThrottleDecision.Rejection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests for a pod that no node takes, from the Events of autoscalers of nodes to the queue. */
class NodeScaleUpTest implements PodStatusWatcher.PodSource {
  private static final String UID = "u-1";
  private static final RevisionStartFailure UNSCHEDULABLE = new RevisionStartFailure(
      "Unschedulable",
      "0/3 nodes are available", "t1");

  private final OneRevision revision = new OneRevision(1, "activator.dev/queue-capacity", "100");
  private final List<HeldRequest> requests = new ArrayList<>();
  private @Nullable ChangeListener<PodStartStatus> pods;
  private @Nullable ChangeListener<NodeEvent> events;
  private @Nullable PodStartStatus pod;

  @BeforeEach
  void watch() {
    var starts = new PodStarts();
    starts.failures().subscribe("throttler", revision.throttler::onContainerFailure);
    starts.progress().subscribe("throttler", revision.throttler::onStartProgress);
    starts.progressEnded().subscribe("throttler", revision.throttler::onStartProgressEnded);
    var watcher = new PodStatusWatcher(revision.revisions.live, revision.loop, this,
        () -> GracePeriods.DEFAULT, this::now, starts);
    revision.throttler.starved().subscribe("watcher", watcher::onRequestWaits);
  }

  private Instant now() {
    return Instant.EPOCH.plus(revision.loop.elapsed());
  }

  /** One more request each second. */
  private void seconds(int count) {
    for (int i = 0; i < count; i++) {
      requests.add(revision.request());
      revision.loop.advance(Duration.ofSeconds(1));
    }
  }

  private void unscheduled() {
    changed(new PodStartStatus("pod", UID,
        FailureReason.unschedulable("Unschedulable", "0/3 nodes are available"),
        Map.of(StartPhase.CREATE, now())));
    var before = revision.revisions.get(ID);
    // As Knative's controller says, as soon as the scheduler has found no node.
    revision.throttler.onRevision(revision.revisions.put(new Revision(ID, before.uid(),
        before.protocol(), 1, before.timeouts(), true, null, Map.of(), before.annotations(),
        UNSCHEDULABLE)));
    revision.loop.run();
  }

  private void changed(PodStartStatus next) {
    pods.changed(pod, next);
    pod = next;
  }

  private void said(String reason, Outlook outlook) {
    events.changed(null, new NodeEvent(UID, "cluster-autoscaler", outlook, reason, "why", now()));
    revision.loop.run();
  }

  @Test
  void waitForANodeThatComesAfter95Seconds_andNoneIsRefused() {
    seconds(2);
    unscheduled();
    seconds(11);
    said("TriggeredScaleUp", Outlook.COMING);
    assertThat(revision.throttler.start(ID).usual()).isEqualTo(Duration.ofMinutes(1));
    seconds(82);

    assertThat(requests).hasSize(95).allMatch(HeldRequest::waits);
    changed(new PodStartStatus("pod", UID, null,
        Map.of(StartPhase.CREATE, now(), StartPhase.SCHEDULE, now())));
    revision.loop.advance(Duration.ofSeconds(2));
    revision.pods(A);
    requests.forEach(request -> {
      assertThat(request.destination()).isEqualTo(A);
      request.release();
      revision.loop.run();
    });
    assertThat(events).isNull();
  }

  @Test
  void areRefusedWithinThreeSeconds_onceNoNodeCanCome() {
    seconds(2);
    unscheduled();
    seconds(11);
    said("NotTriggerScaleUp", Outlook.NONE);
    var before = List.copyOf(requests);
    revision.loop.advance(Duration.ofSeconds(3));

    assertThat(before).allSatisfy(request -> assertThat(request.answers()).containsExactly(
        new Rejection.CannotStart(ID,
            new RevisionStartFailure("NotTriggerScaleUp", "why", "pod pod"))));
    revision.loop.advance(Duration.ofSeconds(30));
    assertThat(pods).isNull();
    assertThat(events).isNull();
  }

  @Override
  public CompletableFuture<ListWatchAccess> mayList(String namespace) {
    return CompletableFuture.completedFuture(ListWatchAccess.ALLOWED);
  }

  @Override
  public String selector(RevisionId id) {
    return "app";
  }

  @Override
  public Runnable follow(String namespace, String selector, ChangeListener<PodStartStatus> to) {
    pods = to;
    return () -> pods = null;
  }

  @Override
  public CompletableFuture<ListWatchAccess> mayWatchEvents(String namespace) {
    return CompletableFuture.completedFuture(ListWatchAccess.ALLOWED);
  }

  @Override
  public Runnable followEvents(String namespace, String uid, ChangeListener<NodeEvent> to) {
    events = to;
    return () -> events = null;
  }
}
