package dev.activator.embedded.runtime;

import dev.activator.embedded.api.ApiEvent;
import dev.activator.embedded.api.ApiStore;
import dev.activator.embedded.api.Kinds;
import dev.activator.embedded.api.Meta;
import dev.activator.embedded.runtime.policy.ServicePlan;
import dev.activator.embedded.runtime.policy.ServicePlan.Known;
import dev.activator.embedded.runtime.policy.ServicePlan.Wanted;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Makes revisions of Services, and the objects around each revision.
 *
 * <p>
 * <b>Threads.</b> Those of one loop.
 *
 * <p>
 * <b>Source.</b> {@code pkg/reconciler/service}, {@code configuration} and {@code revision} in
 * Knative Serving, in one step. A revision counts as ready until its process fails.
 */
final class ServiceController {
  private static final Logger log = LoggerFactory.getLogger(ServiceController.class);

  private final ApiStore store;
  private final Objects objects;
  private final RuntimeSettings settings;
  private final RevisionDirectory directory;

  ServiceController(ApiStore store, RuntimeSettings settings, RevisionDirectory directory) {
    this.store = store;
    this.objects = new Objects(store);
    this.settings = settings;
    this.directory = directory;
  }

  /** A Service was applied or deleted, or its status changed. */
  void serviceChanged(ApiEvent event) {
    String namespace = Meta.namespace(event.object());
    String name = Meta.name(event.object());
    var service = store.find(Kinds.KNATIVE_SERVICE, namespace, name);
    if (service == null) {
      revisions(namespace, name).forEach(this::deleteRevision);
    } else {
      reconcile(service);
    }
    publish();
  }

  /** A revision was made or deleted, or its status changed. */
  void revisionChanged(ApiEvent event) {
    var revision = event.object();
    String service = Meta.labels(revision).getOrDefault(Names.SERVICE, "");
    if (service.isEmpty()) {
      return;
    }
    switch (event.type()) {
      case ADDED -> createChildren(revision);
      case MODIFIED -> {
      }
      case DELETED -> deleteChildren(revision);
    }
    publish();
    var owner = store.find(Kinds.KNATIVE_SERVICE, Meta.namespace(revision), service);
    if (owner != null) {
      updateStatus(owner, "");
    }
  }

  private void reconcile(ObjectNode service) {
    String namespace = Meta.namespace(service);
    String name = Meta.name(service);
    var revisions = revisions(namespace, name);
    var plan = ServicePlan.of(
        new Wanted(name, RevisionObjects.fingerprint(service), revisionName(service)),
        revisions.stream().map(ServiceController::known).toList());
    var create = plan.create();
    if (create != null) {
      log.info("Service {}/{} has a new revision {}", namespace, name, create.name());
      var revision = RevisionObjects.revision(service, create);
      objects.create(Kinds.REVISION, revision);
      objects.updateStatus(Kinds.REVISION, namespace, create.name(), this::fresh);
    }
    revisions.stream().filter(revision -> plan.delete().contains(Meta.name(revision)))
        .forEach(this::deleteRevision);
    updateStatus(service, plan.problem());
  }

  private ObjectNode fresh(ObjectNode revision) {
    Conditions.of(revision, Timestamps.now(settings.clock())).hold("Ready")
        .hold("ResourcesAvailable").hold("ContainerHealthy");
    return revision;
  }

  private void createChildren(ObjectNode revision) {
    var protocol = RevisionReader.read(revision).protocol();
    objects.create(Kinds.SERVICE, RevisionObjects.publicService(revision, protocol));
    objects.create(Kinds.SERVICE, RevisionObjects.privateService(revision, protocol));
    objects.create(Kinds.ENDPOINTS,
        RevisionObjects.publicEndpoints(revision, protocol, settings.activator()));
    objects.create(Kinds.ENDPOINTS, RevisionObjects.privateEndpoints(revision));
    objects.create(Kinds.DEPLOYMENT, RevisionObjects.deployment(revision));
  }

  private void deleteRevision(ObjectNode revision) {
    objects.delete(Kinds.REVISION, Meta.namespace(revision), Meta.name(revision));
  }

  private void deleteChildren(ObjectNode revision) {
    String namespace = Meta.namespace(revision);
    String name = Meta.name(revision);
    log.info("Revision {}/{} is deleted", namespace, name);
    objects.delete(Kinds.DEPLOYMENT, namespace, Names.deployment(name));
    for (var service : List.of(name, Names.privateService(name))) {
      objects.delete(Kinds.ENDPOINTS, namespace, service);
      objects.delete(Kinds.SERVICE, namespace, service);
    }
  }

  private void updateStatus(ObjectNode service, String problem) {
    String namespace = Meta.namespace(service);
    var revisions = revisions(namespace, Meta.name(service));
    objects.updateStatus(Kinds.KNATIVE_SERVICE, namespace, Meta.name(service),
        stored -> new ServiceStatus(settings).of(stored, revisions, problem));
  }

  private void publish() {
    directory.replace(store.list(Kinds.REVISION).stream()
        .filter(revision -> Meta.labels(revision).containsKey(Names.SERVICE)).toList());
  }

  private List<ObjectNode> revisions(String namespace, String service) {
    return store.list(Kinds.REVISION).stream()
        .filter(revision -> Meta.namespace(revision).equals(namespace)
            && service.equals(Meta.labels(revision).get(Names.SERVICE)))
        .toList();
  }

  private static Known known(ObjectNode revision) {
    String template = RevisionReader.annotations(revision).getOrDefault(Names.TEMPLATE, "");
    return new Known(Meta.name(revision), RevisionDirectory.number(revision), template);
  }

  private static String revisionName(ObjectNode service) {
    return service.path("spec").path("template").path("metadata").path("name").stringValue("");
  }
}
