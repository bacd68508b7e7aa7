package dev.activator.embedded.runtime;

/** The names of Knative's labels and annotations that this package uses. */
public final class EmbeddedLabels {
  public static final String SERVICE = "serving.knative.dev/service";
  public static final String CONFIGURATION = "serving.knative.dev/configuration";
  public static final String GENERATION = "serving.knative.dev/configurationGeneration";
  public static final String REVISION = "serving.knative.dev/revision";
  public static final String REVISION_UID = "serving.knative.dev/revisionUID";
  public static final String SERVICE_TYPE = "networking.internal.knative.dev/serviceType";
  public static final String SERVERLESS_SERVICE = "networking.internal.knative.dev/serverlessservice";
  public static final String PRIVATE = "Private";
  public static final String PUBLIC = "Public";
  static final String ROUTING_STATE = "serving.knative.dev/routingState";
  /** The routing state of a revision that gets no requests to its Service. */
  static final String RESERVE = "reserve";
  static final String TEMPLATE = "activator.dev/template";
  /** The annotation with which pods are probed without queue-proxy. */
  static final String PROBE = "activator.dev/probe";
  static final String CONTAINER = "container";

  private EmbeddedLabels() {}
}
