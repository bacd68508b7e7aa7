package dev.activator.cluster.endpoints;

/** Which objects the addresses of pods and activators are read from. */
public enum EndpointsSource {
  /** EndpointSlices where they can be used, else Endpoints. */
  AUTO,
  /** EndpointSlices; the start fails where they cannot be listed. */
  ENDPOINTSLICES,
  /** Endpoints, as Knative's activator does. */
  ENDPOINTS
}
