package dev.activator.embedded.runtime;

import static dev.activator.embedded.runtime.ServiceRouter.belongsTo;
import static dev.activator.embedded.runtime.ServiceRouter.id;

import dev.activator.embedded.runtime.policy.TrafficSplit;
import dev.activator.embedded.api.store.ApiStoreChange;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.ApiStore.StoreSubscription;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.runtime.ServiceRouter.KnownService;
import dev.activator.embedded.runtime.policy.ServiceRevisionPlanner;
import dev.activator.loop.Loop;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The controller of Knative Services. It creates a Revision for each of the last templates of a
 * Service, and the objects of each Revision.
 *
 * <p><b>Threads.</b> Events are handled on {@code loop}. Any thread may read the latest revision.
 *
 * <p><b>Errors.</b> A Service that cannot run is refused when it is written. Objects that a user
 * deletes are created again at once.
 *
 * <p><b>Source.</b> Knative Serving's service and configuration reconcilers.
 */
public final class ServingController {
  /** The image of the sample. It is only a name, since the sample runs in this process. */
  public static final String SAMPLE_IMAGE = "activator.dev/hello";

  static final String READY = "Ready";
  private static final Logger log = LoggerFactory.getLogger(ServingController.class);
  private static final Duration MAX_ROUTE_WAIT = Duration.ofSeconds(10);
  private static final Pattern REVISION_NUMBER = Pattern.compile("-(\\d{1,9})$");
  private static final List<Kind> OWNED_BY_REVISION = List.of(BuiltInKinds.ENDPOINTS,
      BuiltInKinds.SERVICE,
      BuiltInKinds.DEPLOYMENT);

  private final ApiStore store;
  private final Loop loop;
  private final ControllerWrites objects;
  private final RevisionReconciler dependents;
  private final ServiceRouter router;
  private final Map<RevisionId, KnownService> services = new HashMap<>();
  private final AwaitedRoutes awaited;
  private final List<StoreSubscription> subscriptions = new ArrayList<>();

  public ServingController(ApiStore store, Loop loop, String address,
      BiPredicate<RevisionId, String> routable) {
    this.store = store;
    this.loop = loop;
    this.objects = new ControllerWrites(store);
    this.dependents = new RevisionReconciler(store, objects, address);
    this.router = new ServiceRouter(store, objects, routable);
    this.awaited = new AwaitedRoutes(loop, MAX_ROUTE_WAIT);
    store.onAdmission(BuiltInKinds.KNATIVE_SERVICE, KnativeServiceAdmission::admit);
  }

  public void start(int requestPort) {
    router.start(requestPort);
    dependents.start(requestPort);
    store.onWritten(BuiltInKinds.KNATIVE_SERVICE, this::awaitRoute);
    subscriptions.add(store.subscribe(BuiltInKinds.KNATIVE_SERVICE, loop, this::changed));
    subscriptions.add(store.subscribe(BuiltInKinds.REVISION, loop, this::revisionChanged));
    OWNED_BY_REVISION
        .forEach(kind -> subscriptions.add(store.subscribe(kind, loop, this::ownedChanged)));
  }

  public void stop() {
    subscriptions.forEach(StoreSubscription::close);
  }

  /**
   * The revisions that share the requests to a host; null if there is no such host.
   *
   * @param host the name of a Service, or {@code <tag>-<service>}
   */
  @Nullable TrafficSplit split(String namespace, String host) {
    return router.split(new RevisionId(namespace, host));
  }

  /** The hosts of Services and of their tags. */
  Set<RevisionId> hosts() {
    return router.hosts();
  }

  /** Completes when requests to it can be routed. */
  public CompletableFuture<Void> createSample(String namespace, String name) {
    var sample = Json.object();
    ObjectMeta.of(sample).put("namespace", namespace).put("name", name);
    var template = sample.putObject("spec").putObject("template");
    template.putObject("metadata").putObject("annotations").put(EmbeddedScaleClient.INITIAL_SCALE,
        "0");
    template.putObject("spec").putArray("containers").addObject().put("image", SAMPLE_IMAGE);
    return awaitRoute(store.create(BuiltInKinds.KNATIVE_SERVICE, sample));
  }

  private void changed(ApiStoreChange event) {
    var service = event.object();
    ignoringConflicts(service, () -> {
      if (event.type() == ApiStoreChange.Type.DELETED) {
        deleted(service);
      } else {
        reconcile(service);
      }
    });
  }

  private static void ignoringConflicts(ObjectNode object, Runnable work) {
    try {
      work.run();
    } catch (StatusException e) {
      // The object was deleted or changed in the meantime. The event about that will follow.
      log.debug("{}: {}", ObjectMeta.key(object), e.getMessage());
    }
  }

  private void reconcile(ObjectNode service) {
    var known = services.computeIfAbsent(id(service), _ -> new KnownService());
    long generation = ObjectMeta.of(service).path("generation").longValue(0);
    if (known.generation == generation || ObjectMeta.terminating(service)) {
      // Only the status or the labels have changed, or the Service is being deleted.
      return;
    }
    adopt(service);
    String fingerprint = RevisionObjects.fingerprint(service.at("/spec/template"));
    var plan = new ServiceRevisionPlanner(
        router.revisionsOf(service).stream().map(this::entry).toList())
        .plan(fingerprint);
    var wanted = RevisionObjects.of(service, plan.latest().number(), fingerprint);
    if (plan.fresh()) {
      log.info("{}/{}: a new revision of {}", ObjectMeta.namespace(service), wanted.name(),
          ObjectMeta.name(service));
    }
    if (known.latest.isEmpty()) {
      known.latest = wanted.name();
      // This is done first, since an observer of the revision may look it up by the Service's name.
      router.assign(service, known);
    }
    var revision = dependents.ensure(BuiltInKinds.REVISION, wanted.revision());
    known.generation = generation;
    if (revision == null) {
      refused(service, wanted.name());
      return;
    }
    known.newest = wanted.name();
    if (plan.fresh()) {
      objects.updateStatus(BuiltInKinds.REVISION, revision,
          dependents::begin);
    }
    dependents.complete(revision);
    route(service, known);
    var used = router.used(service);
    plan.stale().stream()
        .map(old -> RevisionObjects.revisionName(ObjectMeta.name(service), old.number()))
        .filter(old -> !used.contains(old))
        .forEach(old -> objects.delete(BuiltInKinds.REVISION, ObjectMeta.namespace(service), old));
  }

  /** The API has refused a revision, so the Service stays as it was. */
  private void refused(ObjectNode service, String revision) {
    objects.updateStatus(BuiltInKinds.KNATIVE_SERVICE, service,
        now -> KnativeServiceStatus.writeRefused(now, revision,
            store.now()));
    awaited.complete(id(service));
  }

  private void revisionChanged(ApiStoreChange event) {
    if (event.type() == ApiStoreChange.Type.DELETED) {
      revisionDeleted(event.object());
    } else {
      routeServiceOf(event.object());
    }
  }

  /**
   * Handles a deleted revision. As in Knative, the newest revision is created again, and an older
   * one is not.
   */
  private void revisionDeleted(ObjectNode revision) {
    var service = serviceOf(revision);
    var known = service == null ? null : services.get(id(service));
    if (service == null || known == null) {
      return;
    }
    String name = ObjectMeta.name(revision);
    known.proven.remove(name);
    if (name.equals(known.ready)) {
      known.ready = "";
    }
    ignoringConflicts(service, () -> {
      if (name.equals(known.newest)) {
        known.generation = -1;
        reconcile(service);
      } else {
        route(service, known);
      }
    });
  }

  private void ownedChanged(ApiStoreChange event) {
    var object = event.object();
    boolean deleted = event.type() == ApiStoreChange.Type.DELETED;
    boolean atZero = event.kind().equals(BuiltInKinds.DEPLOYMENT)
        && object.at("/spec/replicas").asInt(1) == 0;
    if (!deleted && !atZero) {
      return;
    }
    var revision = store.find(BuiltInKinds.REVISION, ObjectMeta.namespace(object),
        ControllerRefs.controller(object).path("name").asString(""));
    if (revision != null && ControllerRefs.controls(revision, object)) {
      ignoringConflicts(revision, () -> {
        if (deleted) {
          dependents.complete(revision);
        } else {
          stayReadyAtZero(revision);
        }
      });
    }
  }

  /**
   * Sets a revision that has been ready to ready when it is scaled to zero, because the next
   * request starts a pod.
   */
  private void stayReadyAtZero(ObjectNode revision) {
    var service = serviceOf(revision);
    var known = service == null ? null : services.get(id(service));
    if (known != null && known.proven.contains(ObjectMeta.name(revision))
        && ConditionManager.find(revision, READY).path("status").asString("").equals("Unknown")) {
      objects.updateStatus(BuiltInKinds.REVISION, revision,
          found -> ConditionManager.of(found, store.now()).setTrue(READY));
    }
  }

  /** The Service of a revision; null if it does not exist or is being deleted. */
  private @Nullable ObjectNode serviceOf(ObjectNode revision) {
    var service = store.find(BuiltInKinds.KNATIVE_SERVICE, ObjectMeta.namespace(revision),
        ObjectMeta.labels(revision).getOrDefault(KnownLabels.SERVICE, ""));
    return service == null || ObjectMeta.terminating(service) || !belongsTo(service, revision)
        ? null
        : service;
  }

  void routable(RevisionId id) {
    var revision = store.find(BuiltInKinds.REVISION, id.namespace(), id.name());
    if (revision != null) {
      routeServiceOf(revision);
    }
  }

  private void routeServiceOf(ObjectNode revision) {
    var service = serviceOf(revision);
    if (service == null) {
      return;
    }
    var known = services.get(id(service));
    if (known != null) {
      ignoringConflicts(service, () -> route(service, known));
    }
  }

  private void route(ObjectNode service, KnownService known) {
    if (router.route(service, known)) {
      awaited.complete(id(service));
    }
  }

  /**
   * Completes when requests to this Service, which was just written, can be routed to a revision.
   */
  private CompletableFuture<Void> awaitRoute(ObjectNode service) {
    var done = new CompletableFuture<Void>();
    loop.execute(() -> {
      // After the events of earlier writes, which complete the responses that wait by then.
      awaited.add(id(service)).thenRun(() -> done.complete(null));
      var stored = store.stored(BuiltInKinds.KNATIVE_SERVICE, service);
      var known = services.get(id(service));
      if (stored == null || known == null) {
        // The write was a dry run, or the Service is already deleted.
        awaited.complete(id(service));
      } else {
        ignoringConflicts(stored, () -> route(stored, known));
      }
    });
    return done;
  }

  private ServiceRevisionPlanner.Entry entry(ObjectNode revision) {
    // A user may change its labels.
    var number = REVISION_NUMBER.matcher(ObjectMeta.name(revision));
    String template = ObjectMeta.of(revision).path("annotations").path(RevisionObjects.TEMPLATE)
        .asString("");
    return new ServiceRevisionPlanner.Entry(
        number.find() ? Integer.parseInt(number.group(1)) : 0, template);
  }

  /** Adopts revisions that an earlier Service with this name has orphaned. */
  private void adopt(ObjectNode service) {
    store.list(BuiltInKinds.REVISION, one -> ControllerRefs.controller(one).isMissingNode()
        && ObjectMeta.namespace(one).equals(ObjectMeta.namespace(service))
        && !ObjectMeta.terminating(one)
        && ObjectMeta.name(service).equals(ObjectMeta.labels(one).get(KnownLabels.SERVICE)))
        .forEach(one -> objects.edit(BuiltInKinds.REVISION, one,
            found -> ControllerRefs.setController(found, BuiltInKinds.KNATIVE_SERVICE, service)));
  }

  private void deleted(ObjectNode service) {
    router.remove(id(service));
    services.remove(id(service));
    awaited.complete(id(service));
    log.info("{}: deleted, with its revisions", ObjectMeta.key(service));
  }
}
