package dev.activator.cluster;

import dev.activator.cluster.policy.IpFamily;
import dev.activator.cluster.policy.Slice;
import dev.activator.cluster.policy.Slice.Owner;
import dev.activator.cluster.policy.Slice.Role;
import dev.activator.cluster.policy.Slices;
import dev.activator.revision.RevisionId;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Puts together what the slices of each Service say, and tells it as one Endpoints object would.
 *
 * <p>
 * <b>Threads.</b> One; it is told within the calls.
 */
final class SliceBook implements Meanings.Listener<Slice> {
  private final IpFamily preferred;
  private final Function<RevisionId, String> uids;
  private final Meanings.Listener<Addresses> out;
  private final Map<Owner, SortedMap<String, Slice>> slices = new HashMap<>();
  private final Map<Owner, Addresses> told = new HashMap<>();

  /**
   * @param preferred the address to take of a pod that has one of each family
   * @param uids that of a revision that exists; empty while that is not known
   * @param out told of each change
   */
  SliceBook(IpFamily preferred, Function<RevisionId, String> uids,
      Meanings.Listener<Addresses> out) {
    this.preferred = preferred;
    this.uids = uids;
    this.out = out;
  }

  @Override
  public void changed(@Nullable Slice before, @Nullable Slice now) {
    if (now != null) {
      slices.computeIfAbsent(now.owner(), _ -> new TreeMap<>()).put(now.name(), now);
    }
    if (before != null && (now == null || !now.owner().equals(before.owner()))) {
      remove(before);
      tell(before.owner());
    }
    if (now != null) {
      tell(now.owner());
    }
  }

  /** The revision of this name is another one now: what was listed for the one before is not its. */
  void madeAnew(RevisionId revision) {
    for (var role : Role.values()) {
      tell(new Owner(revision, role));
    }
  }

  private void remove(Slice gone) {
    slices.computeIfPresent(gone.owner(), (_, its) -> {
      its.remove(gone.name());
      return its.isEmpty() ? null : its;
    });
  }

  private void tell(Owner owner) {
    var its = slices.get(owner);
    var now = its == null ? null : merged(owner, its);
    var before = now == null ? told.remove(owner) : told.put(owner, now);
    if (!Objects.equals(before, now)) {
      out.changed(before, now);
    }
  }

  private Addresses merged(Owner owner, SortedMap<String, Slice> its) {
    var revision = owner.revision();
    var merged = Slices.of(its.values(), uids.apply(revision), preferred);
    return switch (owner.role()) {
      case PODS -> new Addresses.OfPods(merged.pods(revision));
      case ACTIVATORS -> new Addresses.OfActivators(merged.activators(revision));
    };
  }
}
