package dev.activator.knative;

import dev.activator.knative.decode.KnativeKinds;
import dev.activator.knative.policy.PodStartStatus;
import dev.activator.kube.KubernetesSession;
import dev.activator.kube.decode.DecodedObjectHandler;
import dev.activator.kube.reflector.InformerQuery;
import dev.activator.kube.reflector.ListWatchAccess;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.RevisionId;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** The pods of revisions, as a session watches them. */
final class RevisionPods implements PodStatusWatcher.PodSource {
  private final KubernetesSession session;
  private final Function<RevisionId, String> selectors;

  /**
   * @param selectors returns the label selector of a ScaledService's pods, or an empty text for a
   *     Knative revision
   */
  RevisionPods(KubernetesSession session, Function<RevisionId, String> selectors) {
    this.session = session;
    this.selectors = selectors;
  }

  @Override
  public CompletableFuture<ListWatchAccess> mayList(String namespace) {
    return ListWatchAccess.ofList(session.api(),
        InformerQuery.in(namespace, KnativeKinds.PODS, KnownLabels.REVISION));
  }

  @Override
  public String selector(RevisionId revision) {
    var own = selectors.apply(revision);
    return own.isEmpty() ? KnownLabels.REVISION + "=" + revision.name() : own;
  }

  @Override
  public Runnable follow(String namespace, String selector,
      DecodedObjectHandler.ChangeListener<PodStartStatus> listener) {
    return session.watch(InformerQuery.in(namespace, KnativeKinds.PODS, selector), listener)::close;
  }
}
