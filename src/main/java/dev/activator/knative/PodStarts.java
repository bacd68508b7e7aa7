package dev.activator.knative;

import dev.activator.config.DeploymentConfig;
import dev.activator.config.ParsedSettings.Invalid;
import dev.activator.config.ParsedSettings.Valid;
import dev.activator.knative.decode.KnativeKinds;
import dev.activator.knative.policy.NodeEvent;
import dev.activator.knative.policy.PodStartStatus;
import dev.activator.knative.policy.StartingPodSet.GracePeriods;
import dev.activator.kube.KubernetesSession;
import dev.activator.kube.decode.DecodedObjectHandler;
import dev.activator.kube.reflector.InformerQuery;
import dev.activator.kube.reflector.ListWatchAccess;
import dev.activator.loop.Topic;
import dev.activator.revision.ContainerFailure;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes how the pods of revisions with waiting requests start.
 *
 * <p><b>Threads.</b> Topics get their subscribers before the start, and publish on the cluster's loop.
 * Any thread may call {@link #requestsWaitFor}.
 */
public final class PodStarts implements PodStatusWatcher.Listener {
  private static final Logger log = LoggerFactory.getLogger(PodStarts.class);

  private final RevisionChangePublisher<ContainerFailure> failures = new RevisionChangePublisher<>(
      "pods that do not start");
  private final RevisionChangePublisher<RevisionStartProgress> progress = new RevisionChangePublisher<>(
      "pods that start");
  private volatile GracePeriods grace = GracePeriods.DEFAULT;
  private volatile @Nullable PodStatusWatcher watcher;

  PodStarts() {}

  /** Publishes that no pod of a revision with waiting requests can start, and that one may start again. */
  public Topic<ContainerFailure> failures() {
    return failures.changes();
  }

  /** Publishes the start progress of revisions with waiting requests, while their pods are watched. */
  public Topic<RevisionStartProgress> progress() {
    return progress.changes();
  }

  /** Publishes the last progress of a revision when its pods are no longer watched. */
  public Topic<RevisionStartProgress> progressEnded() {
    return progress.ends();
  }

  /**
   * Sets the grace period of pods that no node takes, or whose node does not prepare them. Call
   * before the start.
   */
  public void setUnschedulableGrace(Duration length) {
    grace = new GracePeriods(grace.retried(), length, length, grace.alwaysScheduled());
  }

  /**
   * Reads the ConfigMap {@code config-deployment}: whether requests wait for a node as long as they
   * may. An invalid value changes nothing.
   */
  public void setDeploymentConfig(Map<String, String> data) {
    switch (DeploymentConfig.parse(data)) {
      case Valid<DeploymentConfig>(var now) ->
        grace = new GracePeriods(grace.retried(), grace.slow(), grace.unscheduled(),
            now.podIsAlwaysSchedulable());
      case Invalid<DeploymentConfig> invalid ->
        log.warn("The ConfigMap {} is invalid, and its last valid content stays in use: {}",
            DeploymentConfig.NAME, invalid.line());
    }
  }

  /** Watches the revision's pods for ten seconds. Repeat the call while requests wait. */
  public void requestsWaitFor(RevisionId revision) {
    var now = watcher;
    if (now != null) {
      now.requestsWaitFor(revision);
    }
  }

  /** @param selectors returns the label selector of pods */
  void start(LiveRevisions live, KubernetesSession session,
      Function<RevisionId, String> selectors) {
    watcher = new PodStatusWatcher(live, session.loop(), new Pods(session, selectors),
        () -> grace, Clock.systemUTC(), this);
  }

  void close() {
    var now = watcher;
    watcher = null;
    if (now != null) {
      now.close();
    }
  }

  @Override
  public void failure(ContainerFailure now) {
    failures.changed(now.revision(), now);
    if (now.failure() == null) {
      failures.gone(now.revision());
    }
  }

  @Override
  public void progress(RevisionStartProgress now) {
    progress.changed(now.revision(), now);
  }

  @Override
  public void progressEnded(RevisionId revision) {
    progress.gone(revision);
  }

  private record Pods(KubernetesSession session, Function<RevisionId, String> selectors)
      implements PodStatusWatcher.PodSource {
    @Override
    public CompletableFuture<ListWatchAccess> mayList(String namespace) {
      return ListWatchAccess.ofList(session.api(),
          InformerQuery.in(namespace, KnativeKinds.PODS, KnownLabels.REVISION));
    }

    @Override
    public String selector(RevisionId revision) {
      return selectors.apply(revision);
    }

    @Override
    public Runnable follow(String namespace, String selector,
        DecodedObjectHandler.ChangeListener<PodStartStatus> listener) {
      return session.watch(InformerQuery.in(namespace, KnativeKinds.PODS, selector),
          listener)::close;
    }

    @Override
    public CompletableFuture<ListWatchAccess> mayWatchEvents(String namespace) {
      return ListWatchAccess.ofListAndWatch(session.api(),
          InformerQuery.in(namespace, KnativeKinds.NODE_EVENTS, ""));
    }

    @Override
    public Runnable followEvents(String namespace, String pod,
        DecodedObjectHandler.ChangeListener<NodeEvent> listener) {
      return session.watch(new InformerQuery<>(KnativeKinds.NODE_EVENTS, namespace, "",
          "involvedObject.uid=" + pod), listener)::close;
    }
  }
}
