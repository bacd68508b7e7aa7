package dev.activator.cluster.endpoints;

import dev.activator.cluster.Listeners;
import dev.activator.cluster.decode.Addresses;
import dev.activator.cluster.policy.Slice.Owner;
import dev.activator.revision.PodListing;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.RevisionId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells of pods and activators, whichever objects they were read from.
 *
 * <p>
 * <b>Threads.</b> Consumers are added before the start; the rest belongs to the thread that tells.
 */
public final class EndpointsEvents {
  private final Listeners<PodListing> onPods = new Listeners<>("pods");
  private final Listeners<RevisionId> onPodsGone = new Listeners<>("lost Endpoints");
  private final Listeners<PublicAddresses> onPublicAddresses = new Listeners<>("public Endpoints");
  /** What is said of activators now. */
  private final Map<RevisionId, PublicAddresses> publicAddresses = new HashMap<>();

  /** Pods of a revision, whenever they change. */
  public void onPods(Consumer<PodListing> consumer) {
    onPods.add(consumer);
  }

  /** Revisions of which no object tells pods any more. */
  public void onPodsGone(Consumer<RevisionId> consumer) {
    onPodsGone.add(consumer);
  }

  /** Activators of a revision, whenever they change. */
  public void onPublicAddresses(Consumer<PublicAddresses> consumer) {
    onPublicAddresses.add(consumer);
  }

  /** Says again who the activators are, to those who have just forgotten the revision. */
  public void repeatActivators(RevisionId revision) {
    var addresses = publicAddresses.get(revision);
    if (addresses != null) {
      onPublicAddresses.tell(revision, addresses);
    }
  }

  public void changed(@Nullable Addresses before, @Nullable Addresses now) {
    if (before != null && !saysTheSameOf(before, now)) {
      takeBack(before);
    }
    switch (now) {
      case Addresses.OfPods(var pods) -> onPods.tell(pods.revision(), pods);
      case Addresses.OfActivators(var addresses) -> {
        publicAddresses.put(addresses.revision(), addresses);
        onPublicAddresses.tell(addresses.revision(), addresses);
      }
      case null -> {
        // it was taken back above
      }
    }
  }

  /** Whether what is said now replaces what was said before: labels can be changed, too. */
  private static boolean saysTheSameOf(Addresses before, @Nullable Addresses now) {
    return now != null && now.getClass() == before.getClass()
        && now.revision().equals(before.revision());
  }

  private void takeBack(Addresses before) {
    switch (before) {
      case Addresses.OfPods(var pods) -> onPodsGone.tell(pods.revision(), pods.revision());
      case Addresses.OfActivators(var addresses) -> {
        publicAddresses.remove(addresses.revision());
        onPublicAddresses.tell(addresses.revision(),
            new PublicAddresses(addresses.revision(), List.of(), List.of()));
      }
    }
  }
}
