package dev.activator.knative;

import dev.activator.standalone.ScaledServiceResolver;
import dev.activator.standalone.policy.ActivatorSlicePlanner;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.standalone.policy.ResolvedScaledService.Backend;
import dev.activator.loop.Topic;
import dev.activator.revision.PrivateClusterIp;
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
 * The revisions of Knative and of ScaledServices. If both have the same name, the Knative Revision
 * takes precedence until it is deleted.
 *
 * <p><b>Threads.</b> The cluster's loop. Any thread may call lookups.
 */
final class MergedRevisions implements ScaledServiceResolver.ScaledServicesListener {
  private static final String ROUTED = "active";

  private final LiveRevisions live;
  private final KnativeInformers knative;
  private final Supplier<@Nullable ScaledServiceResolver> scaledServices;
  /** The ids of Knative's revisions. */
  private final Set<RevisionId> knativeRevisions = ConcurrentHashMap.newKeySet();
  final Topic<LiveRevision> revisions = new Topic<>("Revision");
  final RevisionChangePublisher<PrivateEndpoints> pods = new RevisionChangePublisher<>("pods");
  final RevisionChangePublisher<PublicEndpointAddresses> publicAddresses = new RevisionChangePublisher<>(
      "public Endpoints",
      last -> new PublicEndpointAddresses(last.revision(), List.of(), List.of()));
  final RevisionChangePublisher<PrivateClusterIp> clusterIps = new RevisionChangePublisher<>(
      "private Service", last -> new PrivateClusterIp(last.revision(), null, null));
  final RevisionChangePublisher<ResolvedScaledService> scaledServiceStates = new RevisionChangePublisher<>(
      "ScaledService");
  final Topic<ActivatorSlicePlanner> caught = new Topic<>("EndpointSlices that catch requests");

  /** @param scaledServices returns null if ScaledServices are not followed */
  MergedRevisions(LiveRevisions live, KnativeInformers knative,
      Supplier<@Nullable ScaledServiceResolver> scaledServices) {
    this.live = live;
    this.knative = knative;
    this.scaledServices = scaledServices;
  }

  /**
   * The revision or ScaledService with this name. Otherwise the newest routed revision of the
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
   * Handles a change of a Knative Revision. It hides a ScaledService with the same name until it is
   * deleted.
   */
  void knativeChanged(@Nullable Revision before, @Nullable Revision now) {
    var scaled = scaledServices.get();
    if (now != null && knativeRevisions.add(now.id()) && scaled != null) {
      withdraw(scaledServiceStates.find(now.id()), now.id());
      scaled.knativeRevisionChanged(now.id());
    }
    if (now == null && before != null) {
      live.end(before.id());
    } else if (now != null && before == now) {
      revisionAgain(now);
    } else if (now != null) {
      revisionChanged(now);
    }
    if (before != null && now == null && knativeRevisions.remove(before.id()) && scaled != null) {
      scaled.knativeRevisionChanged(before.id());
    }
    if (scaled != null && (before == null || now == null)) {
      Stream.concat(Stream.ofNullable(before), Stream.ofNullable(now))
          .flatMap(one -> Stream.ofNullable(KnativeInformers.serviceOf(one)))
          .forEach(scaled::nameChanged);
    }
  }

  /** Withdraws the revisions of all ports of a ScaledService. */
  private void withdraw(@Nullable ResolvedScaledService last, RevisionId id) {
    if (last != null) {
      last.ports().forEach(one -> withdraw(one.id()));
    }
    withdraw(id);
  }

  /** Reports that the revision, pods and addresses of a ScaledService with this name are gone. */
  private void withdraw(RevisionId id) {
    if (live.find(id) != null) {
      live.end(id);
      pods.gone(id);
      publicAddresses.gone(id);
    }
  }

  private void revisionChanged(Revision now) {
    var known = live.find(now.id());
    if (known == null || !known.spec().equals(now)) {
      revisionAgain(now);
    }
  }

  /** Publishes the revision even if it has not changed, as in a resync. */
  private void revisionAgain(Revision now) {
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
  public @Nullable ResolvedScaledService find(RevisionId id) {
    return scaledServiceStates.find(id);
  }

  @Override
  public void changed(ResolvedScaledService now) {
    var id = now.object().id();
    var before = scaledServiceStates.find(id);
    scaledServiceStates.changed(id, now);
    if (!knativeRevisions.contains(id)) {
      now.backends().forEach(this::changed);
      portsGone(before, now);
    }
  }

  private void changed(Backend one) {
    revisionChanged(one.revision());
    pods.changed(one.id(), one.pods());
  }

  @Override
  public void portsAdded(ResolvedScaledService before, ResolvedScaledService now) {
    if (!knativeRevisions.contains(now.object().id())) {
      var known = before.ports().stream().map(Backend::id).toList();
      now.ports().stream().filter(one -> !known.contains(one.id())).forEach(this::changed);
    }
  }

  @Override
  public void again(ResolvedScaledService now) {
    var id = now.object().id();
    var before = scaledServiceStates.find(id);
    scaledServiceStates.again(id, now);
    if (!knativeRevisions.contains(id)) {
      portsGone(before, now);
      now.backends().forEach(one -> {
        revisionAgain(one.revision());
        pods.again(one.id(), one.pods());
      });
    }
  }

  private void portsGone(@Nullable ResolvedScaledService before, ResolvedScaledService now) {
    if (before != null) {
      var kept = now.ports().stream().map(Backend::id).toList();
      before.ports().stream().map(Backend::id).filter(id -> !kept.contains(id))
          .forEach(this::withdraw);
    }
  }

  @Override
  public void caught(ActivatorSlicePlanner now) {
    caught.publish(now);
  }

  @Override
  public boolean isNameTaken(RevisionId id) {
    return knativeRevisions.contains(id);
  }

  @Override
  public boolean isKnown(RevisionId id) {
    return knativeRevisions.contains(id) || knative.ofService(id).findAny().isPresent();
  }

  @Override
  public void shared(RevisionId id, List<String> addresses) {
    if (!knativeRevisions.contains(id.withoutPort())) {
      publicAddresses.changed(id, new PublicEndpointAddresses(id, addresses, addresses));
    }
  }

  @Override
  public void gone(RevisionId id) {
    var last = scaledServiceStates.find(id);
    scaledServiceStates.gone(id);
    if (!knativeRevisions.contains(id)) {
      withdraw(last, id);
    }
  }
}
