package dev.activator.throttle;

import dev.activator.revision.Destination;
import java.util.Set;

/** The pods for which a request waits apart from those that may run on any pod. */
sealed interface Awaited {
  /** This pod only. */
  record Pod(Destination pod) implements Awaited {}

  /** One of these pods. */
  record AnyOf(Set<Destination> pods) implements Awaited {}

  /** The pod that the tenant has. */
  record TenantsPod(Object tenant) implements Awaited {}
}
