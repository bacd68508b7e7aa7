package dev.activator.embedded.runtime.serving;

import dev.activator.revision.RevisionId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Which revision each Service means.
 *
 * <p>
 * <b>Threads.</b> Any thread may ask; the controller tells.
 */
public final class LatestRevisions {
  private final Map<RevisionId, RevisionId> latest = new ConcurrentHashMap<>();

  /** The latest revision of this Service, or null if there is no such Service. */
  public @Nullable RevisionId latest(String namespace, String service) {
    return latest.get(new RevisionId(namespace, service));
  }

  void is(String namespace, String service, String revision) {
    latest.put(new RevisionId(namespace, service), new RevisionId(namespace, revision));
  }

  void gone(String namespace, String service) {
    latest.remove(new RevisionId(namespace, service));
  }
}
