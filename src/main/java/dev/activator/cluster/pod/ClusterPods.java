package dev.activator.cluster.pod;

import dev.activator.cluster.connection.Glimpse;
import dev.activator.cluster.connection.Lookout;
import dev.activator.cluster.connection.Meanings;
import dev.activator.cluster.object.Items;
import dev.activator.cluster.object.Labels;
import dev.activator.cluster.pod.PodWard.Answer;
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
public final class ClusterPods implements PodWard.Pods {
  private final Lookout lookout;

  public ClusterPods(Lookout lookout) {
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
    return switch (Glimpse.of(lookout.client(), query(namespace, Labels.REVISION))) {
      case SOME, NONE -> Answer.YES;
      case FORBIDDEN -> Answer.FORBIDDEN;
      case NOT_SERVED -> Answer.UNKNOWN;
    };
  }

  @Override
  public AutoCloseable follow(RevisionId revision, Meanings.Listener<PodStatus> listener) {
    return lookout.glance(
        query(revision.namespace(), Labels.REVISION + "=" + revision.name()), listener);
  }
}
