package dev.activator.discovery;

import dev.activator.loop.Topic;
import dev.activator.revision.PrivateEndpoints.PrivateClusterIp;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.LiveRevision;
import dev.activator.revision.LiveRevisions;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The revisions of Knative and of another source. If both have the same name, the Knative Revision
 * takes precedence until it is deleted.
 *
 * <p><b>Threads.</b> The cluster's loop. Any thread may call lookups.
 */
final class MergedRevisions implements RevisionSource.Sink {
  private static final String ROUTED = "active";

  private final LiveRevisions live;
  private final KnativeInformers knative;
  private final Supplier<@Nullable RevisionSource> source;
  /** The ids of Knative's revisions. */
  private final Set<RevisionId> knativeRevisions = ConcurrentHashMap.newKeySet();
  final Topic<LiveRevision> revisions = new Topic<>("Revision");
  final RevisionChangePublisher<PrivateEndpoints> pods = new RevisionChangePublisher<>("pods");
  final RevisionChangePublisher<PublicEndpointAddresses> publicAddresses = new RevisionChangePublisher<>(
      "public Endpoints",
      last -> new PublicEndpointAddresses(last.revision(), List.of(), List.of()));
  final RevisionChangePublisher<PrivateClusterIp> clusterIps = new RevisionChangePublisher<>(
      "private Service", last -> new PrivateClusterIp(last.revision(), null, null));

  /** @param source returns null if there is no other source */
  MergedRevisions(LiveRevisions live, KnativeInformers knative,
      Supplier<@Nullable RevisionSource> source) {
    this.live = live;
    this.knative = knative;
    this.source = source;
  }

  /**
   * The revision with this name. Otherwise the newest routed revision of the
   * Knative Service with this name; null if there is none.
   */
  @Nullable RevisionId named(RevisionId name) {
    return live.find(name) != null
        ? name
        : ofService(name)
            .max(Comparator.comparing(MergedRevisions::isRouted)
                .thenComparing(MergedRevisions::generation))
            .map(Revision::id).orElse(null);
  }

  /** The revisions of a Knative Service. */
  Stream<Revision> ofService(RevisionId service) {
    // The store may be ahead of what was reported.
    return knative.ofService(service).filter(one -> live.find(one.id()) != null);
  }

  /**
   * Whether a Route uses the revision. Knative sets a label for that; a revision without it counts
   * as routed.
   */
  private static boolean isRouted(Revision revision) {
    return revision.labels().getOrDefault(KnownLabels.ROUTING_STATE, ROUTED).equals(ROUTED);
  }

  private static long generation(Revision revision) {
    try {
      return Long
          .parseLong(revision.labels().getOrDefault(KnownLabels.CONFIGURATION_GENERATION, "0"));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  String uidOf(RevisionId id) {
    var revision = live.find(id);
    return revision == null ? "" : revision.uid();
  }

  /**
   * Handles a change of a Knative Revision. It hides an object of the other source with the same name
   * until it is deleted.
   */
  void knativeChanged(@Nullable Revision before, @Nullable Revision now) {
    var other = source.get();
    if (now != null && knativeRevisions.add(now.id()) && other != null) {
      other.revisionsOf(now.id()).forEach(this::withdraw);
      other.onRevisionChange(now.id());
    }
    if (now == null && before != null) {
      live.end(before.id());
    } else if (now != null && before == now) {
      publish(now);
    } else if (now != null) {
      publishChanged(now);
    }
    if (before != null && now == null && knativeRevisions.remove(before.id()) && other != null) {
      other.onRevisionChange(before.id());
    }
    if (other != null && (before == null || now == null)) {
      Stream.concat(Stream.ofNullable(before), Stream.ofNullable(now))
          .flatMap(one -> Stream.ofNullable(KnativeInformers.serviceOf(one)))
          .forEach(other::onServiceChange);
    }
  }

  /** Reports that the revision of another source, its pods and its addresses are gone. */
  private void withdraw(RevisionId id) {
    if (live.find(id) != null) {
      live.end(id);
      pods.gone(id);
      publicAddresses.gone(id);
    }
  }

  private void publishChanged(Revision now) {
    var known = live.find(now.id());
    if (known == null || !known.spec().equals(now)) {
      publish(now);
    }
  }

  /** Publishes a revision even if it has not changed, as in a resync. */
  private void publish(Revision now) {
    var id = now.id();
    var known = live.find(id);
    boolean begins = known == null || !known.uid().equals(now.uid());
    if (begins) {
      // A revision that was created again under the same name is a different one.
      live.end(id);
      knative.recreated(id, now.uid());
    }
    var revision = live.update(now);
    revisions.publish(revision);
    if (begins) {
      // What was reported before the revision.
      clusterIps.republish(id);
      pods.republish(id);
      publicAddresses.republish(id);
    }
  }

  void serviceChanged(@Nullable PrivateClusterIp before, @Nullable PrivateClusterIp now) {
    if (before != null && (now == null || !now.revision().equals(before.revision()))) {
      clusterIps.gone(before.revision());
    }
    if (now != null && before == now) {
      clusterIps.again(now.revision(), now);
    } else if (now != null) {
      clusterIps.changed(now.revision(), now);
    }
  }

  @Override
  public boolean isNameTaken(RevisionId name) {
    return knativeRevisions.contains(name);
  }

  @Override
  public boolean isKnown(RevisionId name) {
    return knativeRevisions.contains(name) || knative.ofService(name).findAny().isPresent();
  }

  private boolean isTakenFrom(RevisionId id) {
    return knativeRevisions.contains(id.withoutPort());
  }

  @Override
  public void changed(Revision revision, PrivateEndpoints its) {
    if (!isTakenFrom(revision.id())) {
      withdrawPodsIfReachedOtherwise(revision);
      publishChanged(revision);
      pods.changed(revision.id(), its);
    }
  }

  @Override
  public void again(Revision revision, PrivateEndpoints its) {
    if (!isTakenFrom(revision.id())) {
      withdrawPodsIfReachedOtherwise(revision);
      publish(revision);
      pods.again(revision.id(), its);
    }
  }

  /** Reports that the pods are gone if the revision's pods are reached in another way from now on. */
  private void withdrawPodsIfReachedOtherwise(Revision now) {
    var before = live.spec(now.id());
    if (before != null && !now.transport().replaces(before.transport())) {
      pods.changed(now.id(), PrivateEndpoints.none(now.id()));
    }
  }

  @Override
  public void shared(RevisionId id, List<String> activators) {
    if (!isTakenFrom(id)) {
      publicAddresses.changed(id, new PublicEndpointAddresses(id, activators, activators));
    }
  }

  @Override
  public void gone(RevisionId id) {
    if (!isTakenFrom(id)) {
      withdraw(id);
    }
  }
}
