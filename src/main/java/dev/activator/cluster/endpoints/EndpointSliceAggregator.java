package dev.activator.cluster.endpoints;

import dev.activator.cluster.FactHandler;
import dev.activator.cluster.decode.Addresses;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts together what the slices of each Service say, and tells it as one Endpoints object would.
 *
 * <p>
 * <b>Threads.</b> One; it is told within the calls.
 */
public final class EndpointSliceAggregator implements FactHandler.Listener<Slice> {
  private static final Logger log = LoggerFactory.getLogger(EndpointSliceAggregator.class);

  private final IpFamily preferred;
  private final Function<RevisionId, String> uids;
  private final FactHandler.Listener<Addresses> out;
  private final Map<Owner, SortedMap<String, Slice>> slices = new HashMap<>();
  private final Map<Owner, Addresses> told = new HashMap<>();
  /** What was said of slices of another revision, by whose they are and their names. */
  private final Map<Owner, Map<String, String>> said = new HashMap<>();

  /**
   * @param preferred the address to take of a pod that has one of each family
   * @param uids that of a revision that exists; empty while that is not known
   * @param out told of each change
   */
  public EndpointSliceAggregator(IpFamily preferred, Function<RevisionId, String> uids,
      FactHandler.Listener<Addresses> out) {
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
  public void madeAnew(RevisionId revision) {
    for (var role : Role.values()) {
      tell(new Owner(revision, role));
    }
  }

  private void remove(Slice gone) {
    slices.computeIfPresent(gone.owner(), (_, its) -> {
      its.remove(gone.name());
      return its.isEmpty() ? null : its;
    });
    said.computeIfPresent(gone.owner(), (_, its) -> {
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

  /** Once for each two uids. */
  private void leftOut(Slice slice, String uid) {
    var line = "Skipped EndpointSlice " + slice.owner().revision().namespace() + "/" + slice.name()
        + ": it is of a revision with uid " + slice.revisionUid() + ", but "
        + slice.owner().revision() + " has uid " + uid;
    var already = said.computeIfAbsent(slice.owner(), _ -> new HashMap<>()).put(slice.name(), line);
    if (!line.equals(already)) {
      log.warn("{}", line);
    }
  }

  private Addresses merged(Owner owner, SortedMap<String, Slice> its) {
    var revision = owner.revision();
    var uid = uids.apply(revision);
    its.values().stream().filter(slice -> !Slices.mayBeOf(slice, uid))
        .forEach(slice -> leftOut(slice, uid));
    var merged = Slices.of(its.values(), uid, preferred);
    return switch (owner.role()) {
      case PODS -> new Addresses.OfPods(merged.pods(revision));
      case ACTIVATORS -> new Addresses.OfActivators(merged.activators(revision));
    };
  }
}
