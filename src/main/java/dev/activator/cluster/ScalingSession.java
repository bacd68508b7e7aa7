package dev.activator.cluster;

import dev.activator.cluster.reflector.KubernetesApi;
import dev.activator.loop.Loop;
import java.time.Clock;
import java.time.InstantSource;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection of its own for the election and for scaling, which no list or watch delays.
 *
 * <p>
 * <b>Threads.</b> Any.
 */
public final class ScalingSession implements AutoCloseable {
  private final KubernetesApi api;
  private final ScaleApi scales;
  private final EventWriter events;

  private ScalingSession(KubernetesApi api) {
    this.api = api;
    this.scales = new ScaleApi(api);
    this.events = new EventWriter(() -> api, Clock.systemUTC());
  }

  /** @throws ClusterUnavailableException if the access is invalid */
  public static ScalingSession of(ClusterAccess access) {
    return new ScalingSession(new KubernetesApi(Connection.configured(access)));
  }

  public ScaleApi scales() {
    return scales;
  }

  public EventWriter events() {
    return events;
  }

  /**
   * Writes statuses and Events of ScaledServices over this connection.
   *
   * @param session null while there is none
   * @param leads whether this activator may write now; asked on the loop
   */
  public static ScaledServiceWriter writer(Supplier<@Nullable ScalingSession> session, Loop loop,
      InstantSource clock, BooleanSupplier leads) {
    return new ScaledServiceWriter(loop, () -> {
      var now = session.get();
      return now == null ? null : now.api;
    }, clock, leads);
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
