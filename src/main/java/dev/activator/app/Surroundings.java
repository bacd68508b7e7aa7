package dev.activator.app;

import dev.activator.cluster.ClusterAccess;
import dev.activator.lifecycle.Part;
import dev.activator.proxy.policy.HostRule;
import dev.activator.upstream.Upstreams.IdleLimits;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.function.IntSupplier;

/** What surrounds the activator: a cluster, or a platform of its own. */
public interface Surroundings {
  /** Where the Kubernetes API is. */
  ClusterAccess api();

  /** Where the autoscaler listens. */
  URI autoscaler();

  /** How a host names a revision, besides being a Service's. */
  HostRule hosts();

  /** Whether callers are told in full why a revision does not start. */
  boolean showsStartMessages();

  /** How long HTTP connections to pods are kept open while no request uses them. */
  Duration idleTimeout();

  /** What starts before the activator takes requests, and stops after the last one. */
  List<Part> beforePorts();

  /**
   * What starts once the activator takes requests.
   *
   * @param requestPort known by then
   */
  List<Part> afterPorts(IntSupplier requestPort);

  /** A cluster, which starts and stops without us. */
  record InCluster(ClusterAccess api, URI autoscaler) implements Surroundings {
    @Override
    public HostRule hosts() {
      return HostRule.NONE;
    }

    @Override
    public boolean showsStartMessages() {
      return false;
    }

    @Override
    public Duration idleTimeout() {
      return IdleLimits.DEFAULT.timeout();
    }

    @Override
    public List<Part> beforePorts() {
      return List.of();
    }

    @Override
    public List<Part> afterPorts(IntSupplier requestPort) {
      return List.of();
    }
  }
}
