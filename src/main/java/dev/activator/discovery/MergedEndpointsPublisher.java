package dev.activator.discovery;

import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.decode.DecodedObjectHandler;
import dev.activator.kube.informer.IndexedStore;
import dev.activator.kube.informer.VersionedObject;
import dev.activator.discovery.policy.RevisionEndpointSlice.Owner;
import dev.activator.discovery.policy.RevisionEndpointSlice.Role;
import dev.activator.discovery.policy.RevisionEndpointSlice;
import dev.activator.kube.policy.IpFamily;
import dev.activator.discovery.policy.MergedEndpoints;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.PublicEndpointAddresses;
import dev.activator.revision.RevisionId;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Merges the EndpointSlices (or the Endpoints) of each Service into one list of pods, and publishes
 * the list. Not thread-safe.
 */
public final class MergedEndpointsPublisher
    implements DecodedObjectHandler.ChangeListener<RevisionEndpointSlice> {
  private static final String BY_OWNER = "owner";
  private static final Logger log = LoggerFactory.getLogger(MergedEndpointsPublisher.class);

  private final IndexedStore<ObjectDecodeResult<RevisionEndpointSlice>> store;
  private final IpFamily preferred;
  private final Function<RevisionId, String> uids;
  private final RevisionChangePublisher<PrivateEndpoints> pods;
  private final RevisionChangePublisher<PublicEndpointAddresses> publicAddresses;

  /**
   * @param store the store, to which an index is added
   * @param preferred the IP family to use for dual-stack pods
   * @param uids returns a revision's uid, or an empty text if the revision is unknown
   */
  public MergedEndpointsPublisher(IndexedStore<ObjectDecodeResult<RevisionEndpointSlice>> store,
      IpFamily preferred,
      Function<RevisionId, String> uids, RevisionChangePublisher<PrivateEndpoints> pods,
      RevisionChangePublisher<PublicEndpointAddresses> publicAddresses) {
    this.store = store;
    this.preferred = preferred;
    this.uids = uids;
    this.pods = pods;
    this.publicAddresses = publicAddresses;
    store.addIndex(BY_OWNER, object -> object.object().value() instanceof RevisionEndpointSlice set
        ? List.of(set.owner())
        : List.of());
  }

  @Override
  public void changed(@Nullable RevisionEndpointSlice before, @Nullable RevisionEndpointSlice now) {
    if (before != null && (now == null || !now.owner().equals(before.owner()))) {
      publish(before.owner(), uidOf(before.owner()), false);
    }
    if (now != null) {
      var uid = uidOf(now.owner());
      if (before == null || !now.revisionUid().equals(before.revisionUid())) {
        warnIfOfAnother(now.owner(), uid, set -> set == now);
      }
      publish(now.owner(), uid, before == now);
    }
  }

  private String uidOf(Owner owner) {
    return uids.apply(owner.revision());
  }

  /**
   * Withdraws the addresses of an old revision, because a new one with the same name was created.
   * Call before consumers get the new revision.
   */
  public void recreated(RevisionId revision, String uid) {
    for (var role : Role.values()) {
      var owner = new Owner(revision, role);
      // Endpoints, unlike EndpointSlices, do not name the revision's uid.
      if (sets(owner).stream().anyMatch(set -> !set.revisionUid().isEmpty())) {
        warnIfOfAnother(owner, uid, _ -> true);
        publish(owner, uid, false);
      }
    }
  }

  /** @param again whether this is a resync, in which unchanged pods are published, too */
  private void publish(Owner owner, String uid, boolean again) {
    var sets = sets(owner);
    var merged = MergedEndpoints.of(sets, uid, preferred);
    var revision = owner.revision();
    switch (owner.role()) {
      case PODS -> publish(pods, revision, sets.isEmpty() ? null : merged.pods(revision), again);
      case ACTIVATORS -> publish(publicAddresses, revision,
          sets.isEmpty() ? null : merged.activators(revision), again);
    }
  }

  private static <E> void publish(RevisionChangePublisher<E> listeners, RevisionId revision,
      @Nullable E now,
      boolean again) {
    if (now == null) {
      listeners.gone(revision);
    } else if (again) {
      listeners.again(revision, now);
    } else {
      listeners.changed(revision, now);
    }
  }

  private List<RevisionEndpointSlice> sets(Owner owner) {
    return of(owner).stream().map(one -> one.object().value()).filter(Objects::nonNull).toList();
  }

  private List<VersionedObject<ObjectDecodeResult<RevisionEndpointSlice>>> of(Owner owner) {
    return store.by(BY_OWNER, owner);
  }

  private void warnIfOfAnother(Owner owner, String uid, Predicate<RevisionEndpointSlice> which) {
    for (var object : of(owner)) {
      var set = object.object().value();
      if (set != null && which.test(set) && !MergedEndpoints.mayBeOf(set, uid)) {
        log.warn(
            "Skipped EndpointSlice {}: it belongs to a revision with uid {}, but {} has uid {}",
            object.key(), set.revisionUid(), owner.revision(), uid);
      }
    }
  }
}
