package dev.activator.cluster;

import dev.activator.cluster.policy.SourceChoice.Found;
import dev.activator.cluster.reflector.Query;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;

/** A list of one object at the most: whether there is any, and whether we may know. */
public final class AccessCheck {
  private AccessCheck() {}

  /**
   * What such a list comes to now. It is asked for once.
   *
   * @throws KubernetesClientException if that cannot be told
   */
  public static <I extends HasMetadata, L extends KubernetesResourceList<I>> Found of(
      KubernetesClient client, Query<I, L> query) {
    try {
      var one = new ListOptionsBuilder().withLimit(1L).build();
      return Connection.once(client).call(now -> query.of(now).list(one)).getItems().isEmpty()
          ? Found.NONE
          : Found.SOME;
    } catch (KubernetesClientException refused) {
      return switch (refused.getCode()) {
        case 403 -> Found.FORBIDDEN;
        case 404 -> Found.NOT_SERVED;
        default -> throw refused;
      };
    }
  }
}
