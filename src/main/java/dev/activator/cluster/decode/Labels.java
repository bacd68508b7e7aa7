package dev.activator.cluster.decode;

import dev.activator.cluster.policy.Slice.Owner;
import dev.activator.cluster.policy.Slice.Role;
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
  static final String REVISION_UID = "serving.knative.dev/revisionUID";
  /** Of an EndpointSlice: the Service it belongs to. */
  static final String SERVICE_NAME = "kubernetes.io/service-name";
  /** Of an EndpointSlice: who writes it. */
  public static final String MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
  public static final String PRIVATE = "Private";
  public static final String PUBLIC = "Public";

  private Labels() {}

  /** The revision an Endpoints or Service object belongs to; null if it belongs to none. */
  static @Nullable RevisionId revisionOf(Field object) {
    var metadata = object.at("metadata");
    var name = metadata.at("labels").at(REVISION).textOrEmpty();
    return name.isEmpty() ? null : new RevisionId(metadata.at("namespace").text(), name);
  }

  /** Whose addresses an Endpoints or EndpointSlice object has; null if those of no revision. */
  static @Nullable Owner ownerOf(Field object) {
    var revision = revisionOf(object);
    if (revision == null) {
      return null;
    }
    var labels = object.at("metadata").at("labels");
    return switch (labels.at(SERVICE_TYPE).textOrEmpty()) {
      case PRIVATE -> labels.at(REVISION_UID).isPresent() ? new Owner(revision, Role.PODS) : null;
      case PUBLIC -> new Owner(revision, Role.ACTIVATORS);
      default -> null;
    };
  }
}
