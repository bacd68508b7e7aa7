package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiEvent;
import dev.activator.embedded.api.store.StatusException;
import dev.activator.embedded.api.store.ApiStore.StoreSubscription;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.api.store.Meta;
import dev.activator.embedded.runtime.policy.RevisionHistory;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Gives each Service a Revision for each of its last templates, and each Revision its objects.
 *
 * <p>
 * <b>Threads.</b> Works on {@code loop}; any may ask for the latest revision.
 *
 * <p>
 * <b>Errors.</b> A Service that cannot run is refused when it is written. Objects that a user
 * deletes are created again at the Service's next change.
 *
 * <p>
 * <b>Source.</b> Knative Serving's service, configuration, revision and serverlessservice
 * reconcilers.
 */
public final class ServingController {
  /** Not an image: the sample runs in this process. */
  public static final String SAMPLE_IMAGE = "activator.dev/hello";

  private static final String READY = "Ready";
  private static final Logger log = LoggerFactory.getLogger(ServingController.class);
  /** In the order of deletion: first what brings requests to a revision. */
  private static final List<Kind> OWNED = List.of(Kinds.REVISION, Kinds.ENDPOINTS, Kinds.SERVICE,
      Kinds.DEPLOYMENT);

  private final ApiStore store;
  private final Loop loop;
  private final StoreWriter objects;
  private final String address;
  private final Map<RevisionId, RevisionId> latest = new ConcurrentHashMap<>();
  private int requestPort;
  private final List<StoreSubscription> subscriptions = new ArrayList<>();

  public ServingController(ApiStore store, Loop loop, String address) {
    this.store = store;
    this.loop = loop;
    this.objects = new StoreWriter(store);
    this.address = address;
    store.onAdmission(Kinds.KNATIVE_SERVICE, ServiceValidation::admit);
  }

  public void start(int requestPort) {
    this.requestPort = requestPort;
    subscriptions.add(store.subscribe(Kinds.KNATIVE_SERVICE, loop, this::changed));
    subscriptions.add(store.subscribe(Kinds.REVISION, loop, this::revisionChanged));
  }

  public void stop() {
    subscriptions.forEach(StoreSubscription::close);
  }

  public @Nullable RevisionId latest(String namespace, String service) {
    return latest.get(new RevisionId(namespace, service));
  }

  public void createSample(String namespace, String name) {
    var sample = Json.object();
    Meta.of(sample).put("namespace", namespace).put("name", name);
    sample.putObject("spec").putObject("template").putObject("spec").putArray("containers")
        .addObject().put("image", SAMPLE_IMAGE);
    store.create(Kinds.KNATIVE_SERVICE, sample);
  }

  private void changed(ApiEvent event) {
    var service = event.object();
    unlessOvertaken(service, () -> {
      if (event.type() == ApiEvent.Type.DELETED) {
        deleted(service);
      } else {
        reconcile(service);
      }
    });
  }

  private static void unlessOvertaken(ObjectNode object, Runnable work) {
    try {
      work.run();
    } catch (StatusException overtaken) {
      // The object was deleted or changed meanwhile; that event will follow.
      log.debug("{}: {}", Meta.key(object), overtaken.getMessage());
    }
  }

  private void reconcile(ObjectNode service) {
    String fingerprint = RevisionObjects.fingerprint(service.at("/spec/template"));
    var plan = new RevisionHistory(revisionsOf(service).stream().map(this::entry).toList())
        .plan(fingerprint);
    var current = new RevisionObjects(service, plan.latest().number(), fingerprint);
    // First: whoever sees the revision may look it up by the Service's name.
    latest.put(id(service), new RevisionId(Meta.namespace(service), current.name()));
    create(current);
    updateStatus(service, current.name());
    plan.stale().forEach(
        old -> remove(service, RevisionObjects.revisionName(Meta.name(service), old.number())));
    if (plan.fresh()) {
      log.info("{}/{}: a new revision of {}", Meta.namespace(service), current.name(),
          Meta.name(service));
    }
  }

  private void revisionChanged(ApiEvent event) {
    var revision = event.object();
    String owner = Meta.labels(revision).getOrDefault(KnativeLabels.SERVICE, "");
    var service = store.find(Kinds.KNATIVE_SERVICE, Meta.namespace(revision), owner);
    if (service != null && id(revision).equals(latest.get(id(service)))) {
      updateStatus(service, Meta.name(revision));
    }
  }

  private void updateStatus(ObjectNode service, String revisionName) {
    var revision = store.find(Kinds.REVISION, Meta.namespace(service), revisionName);
    if (revision != null) {
      objects.updateStatus(Kinds.KNATIVE_SERVICE, Meta.namespace(service), Meta.name(service),
          now -> copyStatus(now, revision));
    }
  }

  private void copyStatus(ObjectNode service, ObjectNode revision) {
    var status = service.withObjectProperty("status");
    status.put("observedGeneration", Meta.of(service).path("generation").asInt(0));
    status.put("latestCreatedRevisionName", Meta.name(revision));
    status.put("url", "http://" + Meta.name(service) + "." + Meta.namespace(service)
        + ".localhost:" + requestPort);
    var ready = Conditions.find(revision, READY);
    if (!ready.isMissingNode()) {
      status.putArray("conditions").add(ready.deepCopy());
    }
    if (Conditions.isTrue(revision, READY)) {
      status.put("latestReadyRevisionName", Meta.name(revision));
    }
  }

  private void create(RevisionObjects current) {
    var revision = ensure(Kinds.REVISION, current.revision());
    String uid = Meta.uid(revision);
    ensure(Kinds.SERVICE, current.publicService(uid));
    ensure(Kinds.SERVICE, current.privateService(uid));
    ensure(Kinds.ENDPOINTS, current.privateEndpoints(uid));
    ensure(Kinds.ENDPOINTS, current.publicEndpoints(uid, address, requestPort));
    ensure(Kinds.DEPLOYMENT, current.deployment(uid));
    objects.updateStatus(Kinds.REVISION, Meta.namespace(revision), Meta.name(revision),
        this::readyAtZero);
  }

  /** A revision without pods is ready: the first request starts one. */
  private void readyAtZero(ObjectNode revision) {
    if (Conditions.find(revision, READY).isMissingNode()) {
      Conditions.of(revision, store.now()).hold(READY);
    }
  }

  private ObjectNode ensure(Kind kind, ObjectNode object) {
    var there = store.find(kind, Meta.namespace(object), Meta.name(object));
    return there != null ? there : store.create(kind, object);
  }

  private RevisionHistory.Entry entry(ObjectNode revision) {
    int number = Integer
        .parseInt(Meta.labels(revision).getOrDefault(KnativeLabels.GENERATION, "0"));
    String template = Meta.of(revision).path("annotations").path(KnativeLabels.TEMPLATE)
        .asString("");
    return new RevisionHistory.Entry(number, template);
  }

  private List<ObjectNode> revisionsOf(ObjectNode service) {
    return store.list(Kinds.REVISION).stream().filter(one -> belongsTo(service, one)).toList();
  }

  private void deleted(ObjectNode service) {
    latest.remove(id(service));
    OWNED.forEach(kind -> store.list(kind).stream().filter(one -> belongsTo(service, one))
        .forEach(one -> delete(kind, one)));
    log.info("{}: deleted, with its revisions", Meta.key(service));
  }

  private void remove(ObjectNode service, String revision) {
    OWNED.forEach(kind -> store.list(kind).stream()
        .filter(one -> belongsTo(service, one) && (Meta.name(one).equals(revision)
            || revision.equals(Meta.labels(one).get(KnativeLabels.REVISION))))
        .forEach(one -> delete(kind, one)));
  }

  private static boolean belongsTo(ObjectNode service, ObjectNode object) {
    return Meta.namespace(object).equals(Meta.namespace(service))
        && Meta.of(object).path("ownerReferences").path(0).path("uid").asString("")
            .equals(Meta.uid(service));
  }

  private void delete(Kind kind, ObjectNode object) {
    objects.delete(kind, Meta.namespace(object), Meta.name(object));
  }

  private static RevisionId id(ObjectNode object) {
    return new RevisionId(Meta.namespace(object), Meta.name(object));
  }
}
