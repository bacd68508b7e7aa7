package dev.activator.cluster.decode;

import dev.activator.cluster.policy.RevisionEndpointSlice.Owner;
import dev.activator.cluster.policy.RevisionEndpointSlice.Role;
import dev.activator.revision.RevisionId;
import org.jspecify.annotations.Nullable;

/**
 * Reads Knative's labels, which name the revision of an object.
 *
 * <p><b>Source.</b> {@code register.go} in {@code knative.dev/serving} and
 * {@code knative.dev/networking}.
 */
public final class RevisionLabelReader {
  public static final String SERVICE_TYPE = "networking.internal.knative.dev/serviceType";
  public static final String REVISION = "serving.knative.dev/revision";
  public static final String PRIVATE = "Private";
  public static final String PUBLIC = "Public";
  static final String REVISION_UID = "serving.knative.dev/revisionUID";
  static final String SERVICE_NAME = "kubernetes.io/service-name";
  static final String MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
  /** The annotation of our EndpointSlices that names the ScaledService. */
  static final String SCALED_SERVICE = "activator.dev/scaled-service";

  /** Shares ids, since a revision has five objects. */
  private static final Interner<RevisionId> IDS = new Interner<>(1 << 14);

  private RevisionLabelReader() {}

  static RevisionId idOf(String namespace, String name) {
    return IDS.of(new RevisionId(namespace, name));
  }

  static @Nullable RevisionId revisionOf(DecodedMetadata metadata) {
    var name = metadata.label(REVISION);
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
    return switch (metadata.label(SERVICE_TYPE)) {
      case PRIVATE ->
        metadata.labels().containsKey(REVISION_UID) ? new Owner(revision, Role.PODS) : null;
      case PUBLIC -> new Owner(revision, Role.ACTIVATORS);
      default -> null;
    };
  }
}
