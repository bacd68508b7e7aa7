package dev.activator.cluster.object;

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
}
