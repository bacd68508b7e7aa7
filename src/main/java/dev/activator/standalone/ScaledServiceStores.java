package dev.activator.standalone;

import dev.activator.kube.KubernetesSession;
import dev.activator.kube.decode.DecodedObjectHandler.ChangeListener;
import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.informer.IndexedStore;
import dev.activator.kube.informer.VersionedObject;
import dev.activator.kube.reflector.InformerQuery;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.RevisionId;
import dev.activator.standalone.HpaWatcher.TargetName;
import dev.activator.standalone.decode.StandaloneKinds;
import dev.activator.standalone.policy.KubernetesService;
import dev.activator.standalone.policy.ScaledService;
import dev.activator.standalone.policy.ServiceEndpointSlice;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The stores of the informers of ScaledServices, and of the Services and EndpointSlices that these
 * name, with their indexes. Each is empty before it is followed.
 *
 * <p><b>Threads.</b> The session's loop.
 */
final class ScaledServiceStores {
  static final String BY_SERVICE = "service";
  static final String BY_TARGET = "target";
  static final String BY_OTHER = "other";
  private static final String BY_CATCHER = "catcher";
  static final String BY_CA = "authorities";
  private static final InformerQuery<ScaledService> OBJECTS = InformerQuery
      .everywhere(StandaloneKinds.SCALED_SERVICES, "");
  private static final InformerQuery<KubernetesService> SERVICES = InformerQuery
      .everywhere(StandaloneKinds.ROUTED_SERVICES, "");
  private static final InformerQuery<ServiceEndpointSlice> SLICES = InformerQuery
      .everywhere(StandaloneKinds.SERVICE_SLICES, KnownLabels.SLICE_SERVICE);

  private final Set<String> namespaces;
  private @Nullable IndexedStore<ObjectDecodeResult<ScaledService>> objects;
  private @Nullable IndexedStore<ObjectDecodeResult<KubernetesService>> services;
  private @Nullable IndexedStore<ObjectDecodeResult<ServiceEndpointSlice>> slices;

  /** @param namespaces those of this installation; empty for all */
  ScaledServiceStores(Set<String> namespaces) {
    this.namespaces = namespaces;
  }

  List<KubernetesSession.Followed> follow(KubernetesSession session,
      ChangeListener<KubernetesService> onService, ChangeListener<ServiceEndpointSlice> onSlice,
      ChangeListener<ScaledService> onObject) {
    return List.of(session.followStored(SERVICES, store -> {
      services = store;
      return onService;
    }), session.followStored(SLICES, store -> {
      slices = store;
      index(store, BY_SERVICE, slice -> List.of(slice.service()));
      index(store, BY_CATCHER, slice -> {
        var own = slice.own();
        return own == null ? List.of() : List.of(own.of());
      });
      return onSlice;
    }), session.followStored(OBJECTS, store -> {
      objects = store;
      index(store, BY_SERVICE, object -> List.of(serviceOf(object)));
      index(store, BY_TARGET, object -> List.of(targetOf(object)));
      index(store, BY_CA, ScaledService::caObjects);
      index(store, BY_OTHER, ScaledService::others);
      return onObject;
    }));
  }

  private static <F> void index(IndexedStore<ObjectDecodeResult<F>> store, String name,
      Function<F, Collection<?>> keys) {
    store.addIndex(name, object -> {
      var decoded = object.object().value();
      return decoded == null ? List.of() : keys.apply(decoded);
    });
  }

  private static RevisionId serviceOf(ScaledService object) {
    return new RevisionId(object.id().namespace(), object.service());
  }

  static TargetName targetOf(ScaledService object) {
    return TargetName.of(object.id().namespace(), object.workload());
  }

  @Nullable KubernetesService service(ScaledService object) {
    return find(services, serviceOf(object));
  }

  /**
   * The EndpointSlices of its Service, without those that list activators. Otherwise activators would
   * count as pods and get the requests that they forward.
   */
  List<ServiceEndpointSlice> slices(ScaledService object) {
    return slicesOf(serviceOf(object)).filter(one -> one.own() == null).toList();
  }

  Stream<ServiceEndpointSlice> slicesOf(RevisionId service) {
    return by(slices, BY_SERVICE, service);
  }

  /** The EndpointSlices that list activators for the Service of a ScaledService. */
  Stream<ServiceEndpointSlice> caughtFor(RevisionId object) {
    return by(slices, BY_CATCHER, object);
  }

  /** The oldest other ScaledService that scales the same workload. */
  @Nullable ScaledService older(ScaledService object) {
    return objectsBy(BY_TARGET, targetOf(object))
        .filter(one -> ScaledService.byAge().compare(one, object) < 0)
        .min(ScaledService.byAge()).orElse(null);
  }

  Stream<ScaledService> objects() {
    return objects == null ? Stream.of() : values(objects.all()).filter(this::isOurs);
  }

  /** Of all installations. */
  Stream<ScaledService> objectsBy(String index, Object value) {
    return by(objects, index, value);
  }

  @Nullable ScaledService object(RevisionId id) {
    var found = find(objects, id);
    return found == null || !isOurs(found) ? null : found;
  }

  boolean isOurs(ScaledService object) {
    return namespaces.isEmpty() || namespaces.contains(object.id().namespace());
  }

  private static <F> @Nullable F find(@Nullable IndexedStore<ObjectDecodeResult<F>> store,
      RevisionId id) {
    var found = store == null ? null : store.find(id.toString());
    return found == null ? null : found.object().value();
  }

  private static <F> Stream<F> by(@Nullable IndexedStore<ObjectDecodeResult<F>> store, String index,
      Object value) {
    return store == null ? Stream.of() : values(store.by(index, value));
  }

  private static <F> Stream<F> values(List<VersionedObject<ObjectDecodeResult<F>>> all) {
    return all.stream().map(one -> one.object().value()).filter(Objects::nonNull);
  }
}
