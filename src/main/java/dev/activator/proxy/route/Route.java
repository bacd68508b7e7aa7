package dev.activator.proxy.route;

import dev.activator.proxy.policy.Answer;
import dev.activator.proxy.policy.Failure;
import dev.activator.revision.Revision;
import org.jspecify.annotations.Nullable;

/** Where a request goes. */
public sealed interface Route {
  /** Nowhere: it is answered here. */
  record Here(Answer answer) implements Route {}

  /** Nowhere: it is refused. */
  record Refused(Failure failure) implements Route {}

  /**
   * To a revision.
   *
   * @param host which one the caller asked for
   * @param path path and query
   * @param service whom to ask a pod for; null for itself
   */
  record To(Revision revision, String host, String path, @Nullable String service)
      implements Route {}
}
