package dev.activator.embedded.runtime;

import dev.activator.embedded.api.store.ApiStore;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.api.store.ObjectMeta;
import dev.activator.embedded.runtime.policy.TrafficAssignment;
import dev.activator.embedded.runtime.policy.TrafficAssignment.Assigned;
import dev.activator.embedded.runtime.policy.TrafficAssignment.TargetState;
import dev.activator.embedded.runtime.policy.TrafficAssignment.Unassigned;
import dev.activator.embedded.runtime.policy.TrafficSplit;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.RevisionId;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Chooses the revisions that get the requests to Knative Services, labels them, and writes the
 * status of each Service.
 *
 * <p><b>Threads.</b> One loop. Any thread may read hosts.
 *
 * <p><b>Source.</b> Knative Serving's route reconciler and its labeler.
 */
final class ServiceRouter {
  /** The routing state of a revision that takes no requests by a host of its Service. */
  static final String RESERVE = "reserve";
  private static final String ACTIVE = "active";

  /**
   * What the controller knows about a Knative Service.
   *
   * <p><b>Threads.</b> One loop.
   */
  static final class KnownService {
    /** The generation that was reconciled last. */
    long generation = -1;
    String newest = "";
    /**
     * The last revision that was ready. It stays the latest ready one even if its process fails
     * later. Empty if there is none.
     */
    String ready = "";
    /**
     * The revision that gets the requests to the latest one: the last that was ready, or the newest
     * if there is none.
     */
    String latest = "";
    /** The revisions that have been ready once. */
    final Set<String> proven = new HashSet<>();
  }

  private final ApiStore store;
  private final ControllerWrites objects;
  private final BiPredicate<RevisionId, String> routable;
  private final ServiceHosts hosts = new ServiceHosts();
  private int requestPort;

  /** @param routable whether requests can be routed to the revision with an id and a uid */
  ServiceRouter(ApiStore store, ControllerWrites objects,
      BiPredicate<RevisionId, String> routable) {
    this.store = store;
    this.objects = objects;
    this.routable = routable;
  }

  void start(int port) {
    requestPort = port;
  }

  @Nullable TrafficSplit split(RevisionId host) {
    return hosts.split(host);
  }

  Set<RevisionId> hosts() {
    return hosts.hosts();
  }

  void remove(RevisionId service) {
    hosts.remove(service);
  }

  /**
   * Chooses the revisions that get the requests. The newest revision becomes the latest one when it
   * is ready and the activator knows it. Until then, the previous one is. Returns whether requests
   * can be routed, or never will be.
   */
  boolean route(ObjectNode service, KnownService known) {
    var newest = store.find(BuiltInKinds.REVISION, ObjectMeta.namespace(service), known.newest);
    if (newest == null) {
      return false;
    }
    var id = id(service);
    // If no revision has been ready yet, the newest gets the requests, which wait until it is.
    boolean ready = ConditionManager.isTrue(newest, ServingController.READY);
    boolean routable = isRoutable(newest);
    if (routable && (ready || known.ready.isEmpty())) {
      known.latest = known.newest;
    }
    if (routable && ready) {
      known.ready = known.newest;
    }
    var assignment = assign(service, known);
    label(service, known);
    objects.updateStatus(BuiltInKinds.KNATIVE_SERVICE, service,
        now -> new KnativeServiceStatus(newest, known.ready, assignment, known.generation,
            requestPort).write(now, store.now()));
    boolean waits = hosts.of(id) == null || known.ready.isEmpty() && !routable;
    return !waits || assignment instanceof Unassigned problem && problem.failed();
  }

  TrafficAssignment assign(ObjectNode service, KnownService known) {
    var assignment = TrafficAssignment.of(ObjectMeta.name(service), ServiceTraffic.targets(service),
        known.latest, revision -> state(service, revision));
    if (assignment instanceof Assigned assigned) {
      hosts.assign(id(service), assigned);
    }
    return assignment;
  }

  private TargetState state(ObjectNode service, String name) {
    var revision = store.find(BuiltInKinds.REVISION, ObjectMeta.namespace(service), name);
    if (revision == null) {
      return TargetState.Known.MISSING;
    }
    if (!belongsTo(service, revision)) {
      return new TargetState.OfOther(
          ObjectMeta.labels(revision).getOrDefault(KnownLabels.SERVICE, ""));
    }
    return switch (ConditionManager.find(revision, ServingController.READY).path("status")
        .asString("")) {
      case "True" -> isRoutable(revision) ? TargetState.Known.READY : TargetState.Known.NOT_READY;
      case "False" -> TargetState.Known.FAILED;
      default -> TargetState.Known.NOT_READY;
    };
  }

  private boolean isRoutable(ObjectNode revision) {
    return routable.test(id(revision), ObjectMeta.uid(revision));
  }

  /**
   * Labels the revisions of a Service by whether they get requests. The newest one is pending until
   * it is ready.
   */
  private void label(ObjectNode service, KnownService known) {
    var used = used(service);
    for (var revision : revisionsOf(service)) {
      String name = ObjectMeta.name(revision);
      if (ConditionManager.isTrue(revision, ServingController.READY)) {
        known.proven.add(name);
      }
      boolean pending = name.equals(known.newest) && !name.equals(known.ready);
      String state = known.proven.contains(name) && used.contains(name) ? ACTIVE : RESERVE;
      if (!pending && !state.equals(ObjectMeta.labels(revision).get(KnownLabels.ROUTING_STATE))) {
        objects.edit(BuiltInKinds.REVISION, ObjectMeta.namespace(service), name,
            found -> ObjectMeta.of(found).withObjectProperty("labels")
                .put(KnownLabels.ROUTING_STATE, state));
      }
    }
  }

  /** The revisions that get requests, or that the Service names. */
  Set<String> used(ObjectNode service) {
    var used = ServiceTraffic.targets(service).stream().map(TrafficAssignment.Target::revision)
        .collect(Collectors.toCollection(HashSet::new));
    var assigned = hosts.of(id(service));
    if (assigned != null) {
      used.addAll(assigned.revisions());
    }
    return used;
  }

  List<ObjectNode> revisionsOf(ObjectNode service) {
    return store.list(BuiltInKinds.REVISION, one -> belongsTo(service, one));
  }

  static boolean belongsTo(ObjectNode service, ObjectNode revision) {
    return ObjectMeta.namespace(revision).equals(ObjectMeta.namespace(service))
        && ControllerRefs.controls(service, revision);
  }

  static RevisionId id(ObjectNode object) {
    return new RevisionId(ObjectMeta.namespace(object), ObjectMeta.name(object));
  }
}
