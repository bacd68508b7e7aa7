package dev.activator.cluster.reflector;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import org.jspecify.annotations.Nullable;

/**
 * Which objects are wanted. Equal ones are listed and watched once.
 *
 * @param type what they are decoded as, which says their group, version and resource
 * @param listType a list of them
 * @param plural the resource, for people
 * @param namespace where they are; null for everywhere
 * @param labelSelector as the API takes it; empty for all
 * @param name the only one that is wanted; null for all
 */
public record Query<I extends HasMetadata, L extends KubernetesResourceList<I>>(Class<I> type,
    Class<L> listType, String plural, @Nullable String namespace, String labelSelector,
    @Nullable String name) {

  public Query(Class<I> type, Class<L> listType, String plural, @Nullable String namespace,
      String labelSelector) {
    this(type, listType, plural, namespace, labelSelector, null);
  }

  /** Those of all namespaces under these labels. */
  public static <I extends HasMetadata, L extends KubernetesResourceList<I>> Query<I, L> everywhere(
      Class<I> type, Class<L> listType, String plural, String labelSelector) {
    return new Query<>(type, listType, plural, null, labelSelector);
  }

  public FilterWatchListDeletable<I, L, ?> of(KubernetesClient client) {
    var all = client.resources(type, listType);
    var placed = namespace == null ? all.inAnyNamespace() : all.inNamespace(namespace);
    var labelled = labelSelector.isEmpty() ? placed : placed.withLabelSelector(labelSelector);
    return name == null ? labelled : labelled.withField("metadata.name", name);
  }
}
