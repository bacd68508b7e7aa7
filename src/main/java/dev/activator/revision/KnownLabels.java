package dev.activator.revision;

/**
 * The labels of Knative's and Kubernetes' objects that several packages read or write.
 *
 * <p><b>Source.</b> {@code register.go} in {@code knative.dev/serving} and
 * {@code knative.dev/networking}; {@code discovery/v1} of Kubernetes.
 */
public final class KnownLabels {
  public static final String SERVICE = "serving.knative.dev/service";
  public static final String CONFIGURATION = "serving.knative.dev/configuration";
  public static final String CONFIGURATION_GENERATION = "serving.knative.dev/configurationGeneration";
  public static final String REVISION = "serving.knative.dev/revision";
  public static final String REVISION_UID = "serving.knative.dev/revisionUID";
  public static final String ROUTING_STATE = "serving.knative.dev/routingState";
  /** {@link #PRIVATE} or {@link #PUBLIC}. */
  public static final String SERVICE_TYPE = "networking.internal.knative.dev/serviceType";
  public static final String PRIVATE = "Private";
  public static final String PUBLIC = "Public";
  /** The Kubernetes Service of an EndpointSlice. */
  public static final String SLICE_SERVICE = "kubernetes.io/service-name";
  public static final String SLICE_MANAGER = "endpointslice.kubernetes.io/managed-by";

  private KnownLabels() {}
}
