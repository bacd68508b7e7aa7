package dev.activator.embedded.runtime.policy;

/**
 * What others may know of a pod.
 *
 * @param name of the pod
 * @param port where its sidecar listens; 0 where no request may be sent
 * @param ready whether it takes requests
 * @param wanted whether it counts for its deployment; false once it was told to stop
 * @param restarts how often its process was started again
 * @param order pods made later have a higher one
 */
public record PodView(String name, int port, boolean ready, boolean wanted, int restarts,
    long order) {
  /** What this state means to others. */
  public static PodView of(String name, long order, PodState state) {
    return switch (state) {
      case PodState.Running(var address, var run, var ready, var failures) ->
        new PodView(name, address.port(), ready, true, run - 1, order);
      case PodState.Waiting(var address, var run, var failures) ->
        new PodView(name, address.port(), false, true, run - 1, order);
      case PodState.Draining(var run) -> new PodView(name, 0, false, false, run - 1, order);
      case PodState.Stopping(var run) -> new PodView(name, 0, false, false, run - 1, order);
      case PodState.Gone() -> new PodView(name, 0, false, false, 0, order);
    };
  }
}
