package dev.activator.embedded.runtime.policy;

/**
 * The state of a pod that controllers decide by.
 *
 * @param order higher for younger pods
 * @param listed whether Endpoints have its address
 * @param wanted false once it must stop
 */
public record PodView(String name, long order, boolean listed, boolean ready, boolean wanted,
    int restarts) {
  public static PodView of(String name, long order, PodState state, int restarts) {
    return switch (state) {
      case PodState.Running(var run, var ready, var served, var failures) ->
        new PodView(name, order, true, ready, true, restarts);
      case PodState.Waiting(var run, var failures) ->
        new PodView(name, order, true, false, true, restarts);
      case PodState.Draining(var run) -> new PodView(name, order, false, false, false, restarts);
      case PodState.Stopping(var run) -> new PodView(name, order, false, false, false, restarts);
      case PodState.Gone() -> new PodView(name, order, false, false, false, restarts);
    };
  }
}
