package dev.activator.cluster.podstatus;

import dev.activator.cluster.AccessCheck;
import dev.activator.cluster.FactHandler;
import dev.activator.cluster.KubernetesSession;
import dev.activator.cluster.decode.Items;
import dev.activator.cluster.decode.Labels;
import dev.activator.cluster.podstatus.PodStatusWatcher.Answer;
import dev.activator.cluster.policy.PodStatus;
import dev.activator.cluster.reflector.Query;
import dev.activator.revision.RevisionId;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * The pods of the cluster, by the label of their revision.
 *
 * <p>
 * <b>Threads.</b> Questions are asked on the client's own threads, which may wait.
 */
public final class ClusterPods implements PodStatusWatcher.Pods {
  private final KubernetesSession lookout;

  public ClusterPods(KubernetesSession lookout) {
    this.lookout = lookout;
  }

  private static Query<Items.OfPod, Items.PodList> query(String namespace, String selector) {
    return new Query<>(Items.OfPod.class, Items.PodList.class, "pods", namespace, selector);
  }

  @Override
  public void ask(String namespace, Consumer<Answer> done) {
    CompletableFuture.supplyAsync(() -> look(namespace), lookout.tasks())
        .exceptionally(_ -> Answer.UNKNOWN).thenAccept(done);
  }

  private Answer look(String namespace) {
    return switch (AccessCheck.of(lookout.client(), query(namespace, Labels.REVISION))) {
      case ALLOWED -> Answer.YES;
      case FORBIDDEN -> Answer.FORBIDDEN;
      case NOT_SERVED -> Answer.UNKNOWN;
    };
  }

  @Override
  public AutoCloseable follow(RevisionId revision, FactHandler.Listener<PodStatus> listener) {
    return lookout.glance(
        query(revision.namespace(), Labels.REVISION + "=" + revision.name()), listener);
  }
}
