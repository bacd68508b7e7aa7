package dev.activator.cluster;

import dev.activator.cluster.decode.Decoded;
import dev.activator.cluster.decode.FactHandler;
import dev.activator.cluster.informer.IndexedStore;
import dev.activator.cluster.informer.VersionedObject;
import dev.activator.cluster.policy.EndpointsObject.Owner;
import dev.activator.cluster.policy.EndpointsObject.Role;
import dev.activator.cluster.policy.EndpointsObject;
import dev.activator.cluster.policy.IpFamily;
import dev.activator.cluster.policy.MergedEndpoints;
import dev.activator.revision.PodListing;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.RevisionId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Merges the EndpointSlices (or Endpoints) of each Service, and tells when the result changes. Not
 * thread-safe.
 */
public final class EndpointsEvents implements FactHandler.FactListener<EndpointsObject> {
  private static final String BY_OWNER = "owner";
  private static final Logger log = LoggerFactory.getLogger(EndpointsEvents.class);

  public interface EndpointsListener {
    void pods(PodListing now);

    void podsGone(RevisionId revision);

    /** Empty when no object lists them any more. */
    void publicAddresses(PublicAddresses now);
  }

  private final IndexedStore<Decoded<EndpointsObject>> store;
  private final IpFamily preferred;
  private final Function<RevisionId, String> uids;
  private final EndpointsListener listener;
  private final Map<RevisionId, PodListing> pods = new HashMap<>();
  private final Map<RevisionId, PublicAddresses> publicAddresses = new HashMap<>();

  /**
   * @param store gets an index
   * @param preferred the family to take of a dual-stack pod
   * @param uids empty for an unknown revision
   */
  public EndpointsEvents(IndexedStore<Decoded<EndpointsObject>> store, IpFamily preferred,
      Function<RevisionId, String> uids, EndpointsListener listener) {
    this.store = store;
    this.preferred = preferred;
    this.uids = uids;
    this.listener = listener;
    store.addIndex(BY_OWNER, object -> object.object().fact() instanceof EndpointsObject set
        ? List.of(set.owner())
        : List.of());
  }

  @Override
  public void changed(@Nullable EndpointsObject before, @Nullable EndpointsObject now) {
    if (before != null && (now == null || !now.owner().equals(before.owner()))) {
      publish(before.owner(), Repeat.NO);
    }
    if (now != null) {
      if (before == null || !now.revisionUid().equals(before.revisionUid())) {
        warnIfOfAnother(now.owner(), set -> set == now);
      }
      publish(now.owner(), before == now ? Repeat.YES : Repeat.NO);
    }
  }

  /** The new revision does not inherit the old one's addresses. */
  public void recreated(RevisionId revision) {
    for (var role : Role.values()) {
      var owner = new Owner(revision, role);
      // Endpoints have no uid.
      if (sets(owner).stream().anyMatch(set -> !set.revisionUid().isEmpty())) {
        warnIfOfAnother(owner, _ -> true);
        publish(owner, Repeat.NO);
      }
    }
  }

  public void repeatPublicAddresses(RevisionId revision) {
    var addresses = publicAddresses.get(revision);
    if (addresses != null) {
      listener.publicAddresses(addresses);
    }
  }

  /** Whether to publish an unchanged result, in a resync. */
  private enum Repeat {
    YES,
    NO
  }

  private void publish(Owner owner, Repeat repeat) {
    var sets = sets(owner);
    var merged = MergedEndpoints.of(sets, uids.apply(owner.revision()), preferred);
    var revision = owner.revision();
    switch (owner.role()) {
      case PODS -> publish(revision, sets.isEmpty() ? null : merged.pods(revision), pods, repeat,
          listener::pods, () -> listener.podsGone(revision));
      case ACTIVATORS -> publish(revision, sets.isEmpty() ? null : merged.activators(revision),
          publicAddresses, repeat, listener::publicAddresses, () -> listener
              .publicAddresses(new PublicAddresses(revision, List.of(), List.of())));
    }
  }

  private static <T> void publish(RevisionId revision, @Nullable T now,
      Map<RevisionId, T> published,
      Repeat repeat, Consumer<T> changed, Runnable gone) {
    if (now == null && published.remove(revision) != null) {
      gone.run();
    } else if (now != null && (repeat == Repeat.YES || !now.equals(published.get(revision)))) {
      published.put(revision, now);
      changed.accept(now);
    }
  }

  private List<EndpointsObject> sets(Owner owner) {
    return of(owner).stream().map(one -> one.object().fact()).filter(Objects::nonNull).toList();
  }

  private List<VersionedObject<Decoded<EndpointsObject>>> of(Owner owner) {
    return store.by(BY_OWNER, owner);
  }

  private void warnIfOfAnother(Owner owner, Predicate<EndpointsObject> which) {
    var uid = uids.apply(owner.revision());
    for (var object : of(owner)) {
      var set = object.object().fact();
      if (set != null && which.test(set) && !MergedEndpoints.mayBeOf(set, uid)) {
        log.warn("Skipped EndpointSlice {}: it is of a revision with uid {}, but {} has uid {}",
            object.key(), set.revisionUid(), owner.revision(), uid);
      }
    }
  }
}
