package dev.activator.throttle;

import dev.activator.revision.Destination;
import dev.activator.throttle.ThrottleDecision.QueuedCaller;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The pods that a request may run on, instead of those that the balancer chooses. It is evaluated when
 * the request arrives, and while the request is queued after each change of the pods.
 *
 * <p><b>Threads.</b> Any; must not block.
 *
 * <p><b>Source.</b> Envoy's {@code LoadBalancerContext}, whose {@code overrideHostToSelect} is
 * {@link Only}.
 */
public interface PodChoice {
  /** Makes the choices of one revision's requests. */
  @FunctionalInterface
  interface Maker {
    /** Returns null if the balancer chooses. Called on the request's loop. */
    @Nullable PodChoice of(QueuedCaller caller);

    /**
     * Whether each pod serves the requests of one {@link PodChoice#tenant} at a time. Requests without a
     * choice or a tenant then have a pod to themselves.
     */
    default boolean isExclusive() {
      return false;
    }
  }

  Wanted ANY = new Any();
  Wanted GONE = new Gone();

  /** What a request wants. */
  sealed interface Wanted permits Any, AnyOf, Only, Gone {}

  /** Any pod with room; of several, the one with the highest {@link #score}. */
  record Any() implements Wanted {}

  /** One of these pods, as in {@link Any}; the request waits for them, even if others have room. */
  record AnyOf(Set<Destination> pods) implements Wanted {}

  /** The request waits for this pod, even if others have room. */
  record Only(Destination pod) implements Wanted {}

  /** The request fails, because its pod is gone. */
  record Gone() implements Wanted {}

  /**
   * What the request wants now.
   *
   * @param pods the pods that this activator sends requests to, and those that are ejected for a
   *     moment; may be empty
   */
  Wanted wanted(List<Destination> pods);

  /** How much the request prefers a pod: the same on each activator. */
  long score(Destination pod);

  /**
   * Whose request this is, where pods are exclusive: no request of another tenant runs on its pod
   * meanwhile. Null if the request has a pod to itself.
   */
  default @Nullable Object tenant() {
    return null;
  }
}
