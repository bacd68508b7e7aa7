package dev.activator.cluster.decode;

import dev.activator.cluster.policy.EndpointSet.Owner;
import dev.activator.cluster.policy.EndpointSet.Role;
import dev.activator.revision.RevisionId;
import org.jspecify.annotations.Nullable;

/**
 * The labels by which the objects of a revision are found.
 *
 * <p>
 * <b>Source.</b> {@code knative.dev/serving/pkg/apis/serving/register.go}, {@code
 * knative.dev/networking/pkg/apis/networking/register.go}.
 */
public final class Labels {
  public static final String SERVICE_TYPE = "networking.internal.knative.dev/serviceType";
  public static final String REVISION = "serving.knative.dev/revision";
  public static final String PRIVATE = "Private";
  public static final String PUBLIC = "Public";
  static final String REVISION_UID = "serving.knative.dev/revisionUID";
  /** Of an EndpointSlice: the Service it belongs to. */
  static final String SERVICE_NAME = "kubernetes.io/service-name";

  private Labels() {}

  /** The revision that an object belongs to; null if none. */
  static @Nullable RevisionId revisionOf(Metadata metadata) {
    var name = metadata.label(REVISION);
    return name.isEmpty() || metadata.namespace().isEmpty()
        ? null
        : new RevisionId(metadata.namespace(), name);
  }

  /** Whose addresses an Endpoints or EndpointSlice object has; null if those of no revision. */
  static @Nullable Owner ownerOf(Metadata metadata) {
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
