package dev.activator.discovery;

import dev.activator.discovery.PodAddressPreference.EndpointsSource;
import dev.activator.kube.decode.DecodedObjectHandler.ChangeListener;
import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.informer.IndexedStore;
import dev.activator.discovery.policy.RevisionEndpointSlice;
import dev.activator.kube.reflector.ListWatchAccess;
import dev.activator.kube.reflector.InformerQuery;
import dev.activator.discovery.decode.KnativeKinds;
import dev.activator.kube.KubernetesSession;
import dev.activator.revision.PrivateEndpoints.PrivateClusterIp;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.stream.Stream;
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
      .everywhere(KnativeKinds.ENDPOINTS, OF_REVISIONS);
  private static final InformerQuery<RevisionEndpointSlice> ENDPOINT_SLICES = InformerQuery
      .everywhere(KnativeKinds.ENDPOINT_SLICES, OF_REVISIONS);
  private static final InformerQuery<Revision> REVISIONS = InformerQuery
      .everywhere(KnativeKinds.REVISIONS, "");
  private static final InformerQuery<PrivateClusterIp> SERVICES = InformerQuery
      .everywhere(KnativeKinds.SERVICES,
          KnownLabels.SERVICE_TYPE + "=" + KnownLabels.PRIVATE);
  private static final String BY_SERVICE = "service";
  private static final Logger log = LoggerFactory.getLogger(KnativeInformers.class);

  private final PodAddressPreference source;
  private volatile InformerQuery<RevisionEndpointSlice> addresses;
  private volatile @Nullable MergedEndpointsPublisher endpoints;
  private volatile @Nullable IndexedStore<ObjectDecodeResult<Revision>> stored;

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
      addresses = allowed(
          ListWatchAccess.ofListAndWatch(session.api(), ENDPOINT_SLICES, ENDPOINTS).get());
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
    return List.of(followed, session.followStored(REVISIONS, store -> {
      store.addIndex(BY_SERVICE, object -> {
        var decoded = object.object().value();
        var service = decoded == null ? null : serviceOf(decoded);
        return service == null ? List.of() : List.of(service);
      });
      stored = store;
      return revisions;
    }),
        session.followAgain(SERVICES, services));
  }

  /** The revisions of a Knative Service, in the store. */
  Stream<Revision> ofService(RevisionId service) {
    var store = stored;
    return store == null
        ? Stream.of()
        : store.by(BY_SERVICE, service).stream()
            .flatMap(one -> Stream.ofNullable(one.object().value()));
  }

  /** The namespace and name of the Knative Service of a revision; null if it has none. */
  static @Nullable RevisionId serviceOf(Revision revision) {
    var service = revision.labels().get(KnownLabels.SERVICE);
    return service == null ? null : new RevisionId(revision.id().namespace(), service);
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
