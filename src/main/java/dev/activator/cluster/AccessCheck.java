package dev.activator.cluster;

import dev.activator.cluster.reflector.Query;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;

/** Whether the API lets us list a kind: a list of one object at the most. */
public final class AccessCheck {
  /** What a list came to. */
  public enum Found {
    ALLOWED, FORBIDDEN, NOT_SERVED
  }

  private AccessCheck() {}

  /**
   * What such a list comes to; asked for once.
   *
   * @throws KubernetesClientException if that cannot be told
   */
  public static <I extends HasMetadata, L extends KubernetesResourceList<I>> Found of(
      KubernetesClient client, Query<I, L> query) {
    try {
      var one = new ListOptionsBuilder().withLimit(1L).build();
      var _ = Connection.once(client).call(now -> query.of(now).list(one));
      return Found.ALLOWED;
    } catch (KubernetesClientException refused) {
      return switch (refused.getCode()) {
        case 403 -> Found.FORBIDDEN;
        case 404 -> Found.NOT_SERVED;
        default -> throw refused;
      };
    }
  }
}
