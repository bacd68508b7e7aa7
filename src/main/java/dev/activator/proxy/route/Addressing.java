package dev.activator.proxy.route;

import dev.activator.revision.RevisionId;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Which host a pod is asked for. */
public sealed interface Addressing {
  /** Its own address. */
  record ByPod() implements Addressing {}

  /**
   * The revision's private service, as a mesh routes by it.
   *
   * @param host the service's name and namespace, with a dot between
   */
  record ByService(Function<RevisionId, String> host) implements Addressing {}

  /** As is said at the moment a request comes. */
  record Live(Supplier<Addressing> now) implements Addressing {}

  /** The service to ask for; null for the pod itself. */
  default @Nullable String service(RevisionId revision) {
    return switch (this) {
      case ByPod() -> null;
      case ByService(var host) -> host.apply(revision);
      case Live(var now) -> now.get().service(revision);
    };
  }
}
