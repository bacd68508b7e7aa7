package dev.activator.cluster.decode;

import dev.activator.revision.PodListing;
import dev.activator.revision.PublicAddresses;
import dev.activator.revision.RevisionId;

/** What an Endpoints object tells us. */
public sealed interface Addresses {
  RevisionId revision();

  /** Those of a private Service: the pods. */
  record OfPods(PodListing pods) implements Addresses {
    @Override
    public RevisionId revision() {
      return pods.revision();
    }
  }

  /** Those of a public Service: while the activator is in the path, the activators. */
  record OfActivators(PublicAddresses addresses) implements Addresses {
    @Override
    public RevisionId revision() {
      return addresses.revision();
    }
  }
}
