package dev.activator.ext.podstarts;

import dev.activator.config.SettingsParser;
import dev.activator.ext.podstarts.policy.NodeEvent;
import dev.activator.ext.podstarts.policy.PodStartStatus;
import dev.activator.ext.podstarts.policy.StartingPodSet.GracePeriods;
import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.KubernetesSession;
import dev.activator.kube.decode.DecodedObjectHandler.ChangeListener;
import dev.activator.kube.decode.WatchedKind;
import dev.activator.kube.reflector.InformerQuery;
import dev.activator.kube.reflector.ListWatchAccess;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.RevisionId;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the pods of revisions with waiting requests through the cluster's connection, once it is
 * started.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Source.</b> {@code pkg/deployment/config.go} of Knative Serving for the ConfigMap, whose other
 * settings are for the controller, so they are not checked here.
 */
public final class PodStartWatch implements PodStatusWatcher.PodSource, AutoCloseable {
  static final String CONFIG_MAP = "config-deployment";
  public static final WatchedKind<PodStartStatus> PODS = new WatchedKind<>("Pod", "api/v1", "pods",
      PodStartStatusReader::new);
  static final WatchedKind<NodeEvent> NODE_EVENTS = new WatchedKind<>("Event", "api/v1", "events",
      NodeEventReader::new);
  private static final Logger log = LoggerFactory.getLogger(PodStartWatch.class);

  private final ClusterWatcher cluster;
  private volatile GracePeriods grace;
  private volatile @Nullable PodStatusWatcher watcher;

  /** @param unscheduled the grace period of pods that no node takes, or whose node does not prepare them */
  public PodStartWatch(ClusterWatcher cluster, Duration unscheduled) {
    this.cluster = cluster;
    this.grace = new GracePeriods(GracePeriods.DEFAULT.retried(), unscheduled, unscheduled, false);
  }

  /**
   * Reads the ConfigMap {@code config-deployment}: whether requests wait for a node as long as they
   * may. An invalid value changes nothing.
   */
  void setDeploymentConfig(Map<String, String> data) {
    var entries = new SettingsParser(data);
    boolean always = entries.flag("pod-is-always-schedulable");
    if (entries.problems().isEmpty()) {
      grace = new GracePeriods(grace.retried(), grace.slow(), grace.unscheduled(), always);
    } else {
      log.warn("The ConfigMap {} is invalid, and its last valid content stays in use: {}",
          CONFIG_MAP,
          String.join("; ", entries.problems()));
    }
  }

  /** Call after the start of the cluster's watcher. */
  public void start() {
    watcher = new PodStatusWatcher(cluster.live(), session().loop(), this, () -> grace,
        Clock.systemUTC(), cluster.podStarts());
  }

  /** Watches the revision's pods for ten seconds. Repeat the call while requests wait. */
  public void onRequestWaits(RevisionId revision) {
    var now = watcher;
    if (now != null) {
      now.onRequestWaits(revision);
    }
  }

  @Override
  public void close() {
    var now = watcher;
    watcher = null;
    if (now != null) {
      now.close();
    }
  }

  private KubernetesSession session() {
    return Objects.requireNonNull(cluster.session());
  }

  @Override
  public CompletableFuture<ListWatchAccess> mayList(String namespace) {
    return ListWatchAccess.ofList(session().api(), pods(namespace));
  }

  @Override
  public String selector(RevisionId revision) {
    return cluster.podSelector(revision);
  }

  @Override
  public Runnable follow(String namespace, String selector,
      ChangeListener<PodStartStatus> listener) {
    return session().watch(InformerQuery.in(namespace, PODS, selector), listener)::close;
  }

  @Override
  public CompletableFuture<ListWatchAccess> mayWatchEvents(String namespace) {
    return ListWatchAccess.ofListAndWatch(session().api(),
        InformerQuery.in(namespace, NODE_EVENTS, ""), pods(namespace));
  }

  private static InformerQuery<PodStartStatus> pods(String namespace) {
    return InformerQuery.in(namespace, PODS, KnownLabels.REVISION);
  }

  @Override
  public Runnable followEvents(String namespace, String pod, ChangeListener<NodeEvent> listener) {
    return session().watch(
        new InformerQuery<>(NODE_EVENTS, namespace, "", "involvedObject.uid=" + pod),
        listener)::close;
  }
}
