package dev.activator.platform;

import dev.activator.config.ConfigValue;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import java.util.function.Supplier;

/**
 * A way to start and stop what has no scale: an extension's reader and client of one field of
 * {@code spec.wake}.
 *
 * @param <T> what the field names; its number of replicas is 1 or 0
 */
public interface WakeMethod<T extends ScaleTarget> {
  /** The name of the field. */
  String field();

  Class<T> type();

  /**
   * Reads the field.
   *
   * @throws IllegalArgumentException a sentence with the part of the field that is invalid
   */
  T read(ConfigValue spec);

  /** @param api the client for scales, which exists once the activator has started */
  ScaleClient<T> client(Supplier<KubernetesApiClient> api);
}
