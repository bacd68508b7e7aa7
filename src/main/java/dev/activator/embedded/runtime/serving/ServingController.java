package dev.activator.embedded.runtime.serving;

import dev.activator.embedded.api.store.ApiEvent;
import dev.activator.embedded.api.store.ApiException;
import dev.activator.embedded.api.store.ApiStore.Subscription;
import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.Json;
import dev.activator.embedded.api.store.Kind;
import dev.activator.embedded.api.store.Kinds;
import dev.activator.embedded.api.store.Meta;
import dev.activator.embedded.runtime.serving.policy.RevisionHistory;
import dev.activator.loop.Loop;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Keeps what belongs to each Service as it should be: a Revision for each template it had, the last
 * few of them, and what each of those needs.
 *
 * <p>
 * <b>Threads.</b> Start and stop it from one thread; it works on {@code loop}.
 *
 * <p>
 * <b>Errors.</b> A Service that cannot run is refused when it is written. What a user deletes by
 * hand comes back at the Service's next change.
 *
 * <p>
 * <b>Source.</b> The service, configuration, revision and serverlessservice reconcilers of Knative
 * Serving, for what the activator and {@code kubectl} see of them.
 */
public final class ServingController {
  /** The image that is no image: the sample runs in this process. */
  public static final String SAMPLE_IMAGE = "activator.dev/hello";

  private static final Logger log = LoggerFactory.getLogger(ServingController.class);
  /** In the order in which they are taken away: first what brings requests to a revision. */
  private static final List<Kind> OWNED = List.of(Kinds.REVISION, Kinds.ENDPOINTS, Kinds.SERVICE,
      Kinds.DEPLOYMENT);

  private final ApiStore store;
  private final Loop loop;
  private final String address;
  private final LatestRevisions latest = new LatestRevisions();
  private int requestPort;
  private final List<Subscription> subscriptions = new ArrayList<>();

  /** @param address the activator's own, for public Endpoints */
  public ServingController(ApiStore store, Loop loop, String address) {
    this.store = store;
    this.loop = loop;
    this.address = address;
    store.onAdmission(Kinds.KNATIVE_SERVICE, ServiceValidation::admit);
  }

  /** Begins to act on Services; {@code requestPort} is where the activator takes requests. */
  public void start(int requestPort) {
    this.requestPort = requestPort;
    subscriptions.add(store.subscribe(Kinds.KNATIVE_SERVICE, loop, this::changed));
    subscriptions.add(store.subscribe(Kinds.REVISION, loop, this::revisionChanged));
  }

  public void stop() {
    subscriptions.forEach(Subscription::close);
  }

  public LatestRevisions latest() {
    return latest;
  }

  /** Creates a Service that needs no program: it says hello. */
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
    } catch (ApiException overtaken) {
      // The object was deleted, or changed again, meanwhile: that event is on its way.
      log.debug("{}: {}", Meta.key(object), overtaken.getMessage());
    }
  }

  private void reconcile(ObjectNode service) {
    String fingerprint = Fingerprint.of(service.at("/spec/template"));
    var plan = new RevisionHistory(revisionsOf(service).stream().map(this::entry).toList())
        .plan(fingerprint);
    var objects = new RevisionObjects(service, plan.latest().number(), fingerprint);
    // Before the revision is there: who hears of it may ask for it by the Service's name.
    latest.is(Meta.namespace(service), Meta.name(service), objects.name());
    create(objects);
    updateStatus(service, objects.name());
    plan.stale().forEach(old -> remove(service, Names.revision(Meta.name(service), old.number())));
    if (plan.fresh()) {
      log.info("{}/{}: a new revision of {}", Meta.namespace(service), objects.name(),
          Meta.name(service));
    }
  }

  /** A Service is as ready as its latest revision. */
  private void revisionChanged(ApiEvent event) {
    var revision = event.object();
    String owner = Meta.labels(revision).getOrDefault(Labels.SERVICE, "");
    var service = store.find(Kinds.KNATIVE_SERVICE, Meta.namespace(revision), owner);
    var id = owner.isEmpty() ? null : latest.latest(Meta.namespace(revision), owner);
    if (service != null && id != null && id.name().equals(Meta.name(revision))) {
      unlessOvertaken(service, () -> updateStatus(service, id.name()));
    }
  }

  private void updateStatus(ObjectNode service, String revision) {
    var found = store.find(Kinds.REVISION, Meta.namespace(service), revision);
    if (found != null) {
      store.updateStatus(Kinds.KNATIVE_SERVICE, Meta.namespace(service), Meta.name(service),
          now -> ServiceStatus.ofService(now, found, requestPort));
    }
  }

  /** The revision first: everything else carries its uid. */
  private void create(RevisionObjects objects) {
    var revision = ensure(Kinds.REVISION, objects.revision());
    String uid = Meta.uid(revision);
    ensure(Kinds.SERVICE, objects.publicService(uid));
    ensure(Kinds.SERVICE, objects.privateService(uid));
    ensure(Kinds.ENDPOINTS, objects.privateEndpoints(uid));
    ensure(Kinds.ENDPOINTS, objects.publicEndpoints(uid, address, requestPort));
    ensure(Kinds.DEPLOYMENT, objects.deployment(uid));
    store.updateStatus(Kinds.REVISION, Meta.namespace(revision), Meta.name(revision),
        now -> ServiceStatus.ofRevision(now, store.now()));
  }

  private ObjectNode ensure(Kind kind, ObjectNode object) {
    var there = store.find(kind, Meta.namespace(object), Meta.name(object));
    return there != null ? there : store.create(kind, object);
  }

  private RevisionHistory.Entry entry(ObjectNode revision) {
    int number = Integer.parseInt(Meta.labels(revision).getOrDefault(Labels.GENERATION, "0"));
    String template = Meta.of(revision).path("annotations").path(Labels.TEMPLATE).asString("");
    return new RevisionHistory.Entry(number, template);
  }

  private List<ObjectNode> revisionsOf(ObjectNode service) {
    return store.list(Kinds.REVISION).stream().filter(one -> belongsTo(service, one)).toList();
  }

  private void deleted(ObjectNode service) {
    latest.gone(Meta.namespace(service), Meta.name(service));
    OWNED.forEach(kind -> store.list(kind).stream().filter(one -> belongsTo(service, one))
        .forEach(one -> delete(kind, one)));
    log.info("{}: deleted, with its revisions", Meta.key(service));
  }

  private void remove(ObjectNode service, String revision) {
    OWNED.forEach(kind -> store.list(kind).stream()
        .filter(one -> belongsTo(service, one) && (Meta.name(one).equals(revision)
            || revision.equals(Meta.labels(one).get(Labels.REVISION))))
        .forEach(one -> delete(kind, one)));
  }

  private static boolean belongsTo(ObjectNode service, ObjectNode object) {
    return Meta.namespace(object).equals(Meta.namespace(service))
        && Meta.of(object).path("ownerReferences").path(0).path("uid").asString("")
            .equals(Meta.uid(service));
  }

  private void delete(Kind kind, ObjectNode object) {
    try {
      store.delete(kind, Meta.namespace(object), Meta.name(object));
    } catch (ApiException gone) {
      log.debug("{}: {}", Meta.key(object), gone.getMessage());
    }
  }
}
