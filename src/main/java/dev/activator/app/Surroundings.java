package dev.activator.app;

import dev.activator.cluster.ClusterAccess;
import dev.activator.lifecycle.Part;
import dev.activator.proxy.policy.HostRule;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * What is around the activator: a cluster, or what it brings itself.
 */
public interface Surroundings {
  /** Where the Kubernetes API is. */
  ClusterAccess api();

  /** Where the autoscaler listens. */
  URI autoscaler();

  /** How a host names a revision, besides being a service's. */
  HostRule hosts();

  /** Whether who sends requests is who runs the revisions, and may read all about them. */
  boolean areTheCallers();

  /** How long HTTP connections to pods are kept open while no request uses them. */
  Duration idleTimeout();

  /** What starts before the activator takes requests, and so stops after the last one. */
  List<Part> below();

  /**
   * What starts once the activator takes requests.
   *
   * @param requestPort known by then
   */
  List<Part> above(IntSupplier requestPort);
}
