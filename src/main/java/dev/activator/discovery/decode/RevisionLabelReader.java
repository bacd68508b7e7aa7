package dev.activator.discovery.decode;

import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.Interner;
import dev.activator.discovery.policy.RevisionEndpointSlice.Owner;
import dev.activator.discovery.policy.RevisionEndpointSlice.Role;
import dev.activator.revision.KnownLabels;
import dev.activator.revision.RevisionId;
import org.jspecify.annotations.Nullable;

/** Reads Knative's labels, which name the revision of an object. */
final class RevisionLabelReader {
  /** Shares ids, since a revision has five objects. */
  private static final Interner<RevisionId> IDS = new Interner<>(1 << 14);

  private RevisionLabelReader() {}

  static RevisionId idOf(String namespace, String name) {
    return IDS.of(new RevisionId(namespace, name));
  }

  static @Nullable RevisionId revisionOf(DecodedMetadata metadata) {
    var name = metadata.label(KnownLabels.REVISION);
    return name.isEmpty() || metadata.namespace().isEmpty()
        ? null
        : idOf(metadata.namespace(), name);
  }

  /** The Service whose addresses an Endpoints or EndpointSlice object has. */
  static @Nullable Owner ownerOf(DecodedMetadata metadata) {
    var revision = revisionOf(metadata);
    if (revision == null) {
      return null;
    }
    return switch (metadata.label(KnownLabels.SERVICE_TYPE)) {
      case KnownLabels.PRIVATE -> metadata.labels().containsKey(KnownLabels.REVISION_UID)
          ? new Owner(revision, Role.PODS)
          : null;
      case KnownLabels.PUBLIC -> new Owner(revision, Role.ACTIVATORS);
      default -> null;
    };
  }
}
