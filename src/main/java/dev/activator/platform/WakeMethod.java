package dev.activator.platform;

import dev.activator.config.ConfigValue;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.kube.reflector.RestMapper.Served;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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

  /** The condition that says whether the pods may get requests; null if that is left to the pods. */
  @Nullable ReadyCondition readyCondition(T target);

  /** Why the conditions of a kind's objects may not be read; null if they may. */
  default @Nullable String refusal(Served.Here kind) {
    return null;
  }

  /**
   * A condition in the status of an object.
   *
   * @param type such as {@code Ready}
   */
  record ReadyCondition(ScaleTargetRef object, String type) {}

  /** @param api the client for scales, which exists once the activator has started */
  ScaleClient<T> client(Supplier<KubernetesApiClient> api);
}
