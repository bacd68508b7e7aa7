package dev.activator.cluster;

import dev.activator.cluster.reflector.KubernetesApi;
import java.time.Clock;

/**
 * A connection of its own for the election and for scaling, which no list or watch delays.
 *
 * <p>
 * <b>Threads.</b> Any.
 */
public final class ScalingSession implements AutoCloseable {
  private final KubernetesApi api;
  private final ScaleApi scales;

  private ScalingSession(KubernetesApi api) {
    this.api = api;
    this.scales = new ScaleApi(api);
  }

  /** @throws ClusterUnavailableException if the access is invalid */
  public static ScalingSession of(ClusterAccess access) {
    return new ScalingSession(new KubernetesApi(Connection.configured(access)));
  }

  public ScaleApi scales() {
    return scales;
  }

  public EventApi events() {
    return new EventApi(api, Clock.systemUTC());
  }

  public LeaseApi lease(String namespace, String name) {
    return new LeaseApi(api, namespace, name);
  }

  public ServiceMembers members(String namespace, String service) {
    return new ServiceMembers(api, namespace, service);
  }

  @Override
  public void close() {
    api.close();
  }
}
