package dev.activator.standalone.policy;

import dev.activator.revision.PodTransport.PodIdentity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whether the pods of a port get requests over TLS, and what they must prove. */
sealed interface PortSecurity {
  record Plain() implements PortSecurity {}

  record Tls(PodIdentity.OfService identity) implements PortSecurity {}

  /**
   * Pods speak TLS, and which certificates to trust is not said: they get no requests.
   *
   * @param identity trusts no pod
   */
  record NotSaid(PodIdentity.OfService identity) implements PortSecurity {}

  /**
   * None of the authorities that are named can be used: pods get no requests.
   *
   * @param identity trusts no pod
   */
  record NoAuthority(PodIdentity.OfService identity, List<String> problems)
      implements PortSecurity {}

  /** @param bundle null if the ScaledService has no {@code tls} */
  static PortSecurity of(ScaledService object, KubernetesService.Port port,
      @Nullable CaBundle bundle) {
    var identity = identity(object, bundle);
    if (identity == null || bundle == null) {
      return port.isTls()
          ? new NotSaid(new PodIdentity.OfService(defaultName(object), null))
          : new Plain();
    }
    if (port.isPlain()) {
      return new Plain();
    }
    return bundle.authorities() == null
        ? new NoAuthority(identity, bundle.problems())
        : new Tls(identity);
  }

  /**
   * What pods of ports that speak TLS must prove; null if the ScaledService has no {@code tls}.
   *
   * @param bundle null if the ScaledService has no {@code tls}
   */
  static PodIdentity.@Nullable OfService identity(ScaledService object, @Nullable CaBundle bundle) {
    var settings = object.tls();
    return settings == null || bundle == null
        ? null
        : new PodIdentity.OfService(
            settings.hostname().isEmpty() ? defaultName(object) : settings.hostname(),
            bundle.authorities());
  }

  private static String defaultName(ScaledService object) {
    return object.service() + "." + object.id().namespace() + ".svc";
  }

  default boolean isTls() {
    return !(this instanceof Plain);
  }
}
