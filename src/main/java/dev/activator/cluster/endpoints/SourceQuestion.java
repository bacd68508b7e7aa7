package dev.activator.cluster.endpoints;

import dev.activator.cluster.AccessCheck;
import dev.activator.cluster.decode.Items;
import dev.activator.cluster.decode.Labels;
import dev.activator.cluster.policy.SourceChoice;
import dev.activator.cluster.policy.SourceChoice.Found;
import dev.activator.cluster.policy.SourceChoice.Kind;
import dev.activator.cluster.reflector.ApiErrors;
import dev.activator.cluster.reflector.Query;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the API which objects addresses can be read from.
 *
 * <p>
 * <b>Threads.</b> One at the start, which waits for the answers; then any may ask whether EndpointSlices
 * can be listed, and waits as well.
 */
final class SourceQuestion {
  private static final Logger log = LoggerFactory.getLogger(SourceQuestion.class);

  private static final String OF_REVISIONS = Labels.SERVICE_TYPE + " in (" + Labels.PRIVATE + ","
      + Labels.PUBLIC + ")";

  static final Query<Items.OfEndpoints, Items.EndpointsList> ENDPOINTS = Query
      .everywhere(Items.OfEndpoints.class, Items.EndpointsList.class, "endpoints", OF_REVISIONS);
  static final Query<Items.OfEndpointSlice, Items.EndpointSliceList> SLICES = Query.everywhere(
      Items.OfEndpointSlice.class, Items.EndpointSliceList.class, "endpointslices",
      OF_REVISIONS);

  /** What the controllers that copy the labels of Services and Endpoints put on what they write. */
  private static final Query<Items.OfEndpointSlice, Items.EndpointSliceList> WRITTEN = Query
      .everywhere(Items.OfEndpointSlice.class, Items.EndpointSliceList.class, "endpointslices",
          Labels.MANAGED_BY + " in (endpointslice-controller.k8s.io,"
              + "endpointslicemirroring-controller.k8s.io)");

  private final EndpointsSource wanted;
  private volatile @Nullable SourceChoice answer;

  SourceQuestion(EndpointsSource wanted) {
    this.wanted = wanted;
  }

  /** Why it cannot be told now, in a line; null once it can. */
  @Nullable String problem(KubernetesClient client) {
    try {
      if (answer == null) {
        answer = choose(client);
      }
      return null;
    } catch (KubernetesClientException failure) {
      return new ApiErrors(client.getMasterUrl().toString()).about("list", "endpointslices",
          failure);
    }
  }

  /** The answer; there is one once there is no problem. */
  SourceChoice answer() {
    var chosen = answer;
    if (chosen == null) {
      throw new IllegalStateException("nobody has asked yet");
    }
    return chosen;
  }

  /** Whether it is ours to choose. */
  boolean isOpen() {
    return wanted == EndpointsSource.AUTO;
  }

  /**
   * What a list of the EndpointSlices of revisions comes to now.
   *
   * @throws KubernetesClientException if that cannot be told
   */
  static Found slices(KubernetesClient client) {
    return AccessCheck.of(client, SLICES);
  }

  private SourceChoice choose(KubernetesClient client) {
    return switch (wanted) {
      case ENDPOINTSLICES -> SourceChoice.given(Kind.SLICES);
      case ENDPOINTS -> SourceChoice.given(Kind.ENDPOINTS);
      case AUTO -> {
        var choice = SourceChoice.of(slices(client), AccessCheck.of(client, ENDPOINTS),
            AccessCheck.of(client, WRITTEN) == Found.SOME);
        log.info("Pods are read from {}: {}", choice.kind(), choice.reason());
        yield choice;
      }
    };
  }
}
