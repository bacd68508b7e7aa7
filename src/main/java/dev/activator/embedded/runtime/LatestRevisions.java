package dev.activator.embedded.runtime;

import dev.activator.revision.RevisionId;
import org.jspecify.annotations.Nullable;

/**
 * Which revision takes the requests of a Service.
 *
 * <p>
 * <b>Threads.</b> Any thread may ask, on the request path: it is one look into a snapshot.
 */
@FunctionalInterface
public interface LatestRevisions {
  /** The newest revision of this Service; null where there is no such Service. */
  @Nullable RevisionId latest(String namespace, String service);
}
