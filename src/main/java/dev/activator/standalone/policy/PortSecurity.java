package dev.activator.standalone.policy;

import dev.activator.revision.PodIdentity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whether the pods of a port get requests over TLS, and what they must prove. */
sealed interface PortSecurity {
  record Plain() implements PortSecurity {}

  record Tls(PodIdentity.OfService identity) implements PortSecurity {}

  /** Pods speak TLS, and which certificates to trust is not said: they get no requests. */
  record NotSaid() implements PortSecurity {}

  /** None of the authorities that are named can be used: pods get no requests. */
  record NoAuthority(List<String> problems) implements PortSecurity {}

  /** @param bundle null if the ScaledService has no {@code tls} */
  static PortSecurity of(ScaledService object, KubernetesService.Port port,
      @Nullable CaBundle bundle) {
    var settings = object.tls();
    if (settings == null || bundle == null) {
      return port.isTls() ? new NotSaid() : new Plain();
    }
    if (port.isPlain()) {
      return new Plain();
    }
    var authorities = bundle.authorities();
    return authorities == null
        ? new NoAuthority(bundle.problems())
        : new Tls(new PodIdentity.OfService(settings.hostname().isEmpty()
            ? object.service() + "." + object.id().namespace() + ".svc"
            : settings.hostname(), authorities));
  }

  default boolean isTls() {
    return !(this instanceof Plain);
  }
}
