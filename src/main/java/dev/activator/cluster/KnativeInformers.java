package dev.activator.cluster;

import dev.activator.cluster.PodAddressPreference.EndpointsSource;
import dev.activator.cluster.decode.DecodedObjectHandler.ChangeListener;
import dev.activator.cluster.decode.WatchedKind;
import dev.activator.cluster.policy.RevisionEndpointSlice;
import dev.activator.cluster.reflector.ListWatchAccess;
import dev.activator.cluster.reflector.InformerQuery;
import dev.activator.revision.PrivateClusterIp;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The informers of Knative's Revisions, their private Services, and their Endpoints or
 * EndpointSlices.
 *
 * <p><b>Source.</b> The informers of Knative's {@code cmd/activator/main.go}; here the server
 * selects by label.
 */
final class KnativeInformers {
  private static final String OF_REVISIONS = KnownLabels.SERVICE_TYPE + " in ("
      + KnownLabels.PRIVATE + ","
      + KnownLabels.PUBLIC + ")";
  private static final InformerQuery<RevisionEndpointSlice> ENDPOINTS = InformerQuery
      .everywhere(WatchedKind.ENDPOINTS, OF_REVISIONS);
  private static final InformerQuery<RevisionEndpointSlice> ENDPOINT_SLICES = InformerQuery
      .everywhere(WatchedKind.ENDPOINT_SLICES, OF_REVISIONS);
  private static final InformerQuery<Revision> REVISIONS = InformerQuery
      .everywhere(WatchedKind.REVISIONS, "");
  private static final InformerQuery<PrivateClusterIp> SERVICES = InformerQuery
      .everywhere(WatchedKind.SERVICES,
          KnownLabels.SERVICE_TYPE + "=" + KnownLabels.PRIVATE);
  private static final Logger log = LoggerFactory.getLogger(KnativeInformers.class);

  private final PodAddressPreference source;
  private volatile InformerQuery<RevisionEndpointSlice> addresses;
  private volatile @Nullable MergedEndpointsPublisher endpoints;

  KnativeInformers(PodAddressPreference source) {
    this.source = source;
    this.addresses = source.source() == EndpointsSource.ENDPOINTSLICES
        ? ENDPOINT_SLICES
        : ENDPOINTS;
  }

  /**
   * Chooses EndpointSlices or Endpoints by access rights alone. Returns an error in one line if
   * that fails; otherwise null.
   */
  @Nullable String problem(KubernetesSession session) {
    if (source.source() != EndpointsSource.AUTO) {
      return null;
    }
    try {
      addresses = allowed(ListWatchAccess.ofListAndWatch(session.api(), ENDPOINT_SLICES).get());
      return null;
    } catch (ExecutionException e) {
      return session.errors().about("list", ENDPOINT_SLICES.text(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }

  private static InformerQuery<RevisionEndpointSlice> allowed(ListWatchAccess slices) {
    log.info("Pods are read from {}", switch (slices) {
      case ALLOWED -> "EndpointSlices";
      case FORBIDDEN ->
        "Endpoints: the activator may not list or watch " + ENDPOINT_SLICES.text() + " (403)";
      case NOT_SERVED -> "Endpoints: the API does not serve discovery.k8s.io/v1";
    });
    return slices == ListWatchAccess.ALLOWED ? ENDPOINT_SLICES : ENDPOINTS;
  }

  /** @param uids returns a revision's uid, or an empty text if the revision is unknown */
  List<KubernetesSession.Followed> follow(KubernetesSession session,
      Function<RevisionId, String> uids, RevisionChangePublisher<PrivateEndpoints> pods,
      RevisionChangePublisher<PublicEndpointAddresses> publicAddresses,
      ChangeListener<Revision> revisions,
      ChangeListener<PrivateClusterIp> services) {
    var followed = session.followStored(addresses, store -> {
      var events = new MergedEndpointsPublisher(store, source.preferred(), uids, pods,
          publicAddresses);
      endpoints = events;
      return events;
    });
    return List.of(followed, session.followAgain(REVISIONS, revisions),
        session.followAgain(SERVICES, services));
  }

  /**
   * Withdraws the addresses of an old revision, because a new one with the same name was created.
   * Call before consumers get the new revision.
   */
  void recreated(RevisionId revision, String uid) {
    var events = endpoints;
    if (events != null) {
      events.recreated(revision, uid);
    }
  }
}
