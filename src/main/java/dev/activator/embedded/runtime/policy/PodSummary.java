package dev.activator.embedded.runtime.policy;

/**
 * The state of a pod that controllers decide by.
 *
 * @param order higher for younger pods
 * @param listed whether Endpoints have its address
 * @param wanted false once it must stop
 */
public record PodSummary(String name, long order, boolean listed, boolean ready, boolean wanted,
    int restarts) {
  public static PodSummary of(String name, long order, PodState state, int restarts) {
    return switch (state) {
      case PodState.Running(var run, var ready, var served, var failures) ->
        new PodSummary(name, order, true, ready, true, restarts);
      case PodState.Waiting(var run, var failures) ->
        new PodSummary(name, order, true, false, true, restarts);
      case PodState.Draining(var run) -> new PodSummary(name, order, false, false, false, restarts);
      case PodState.Stopping(var run) -> new PodSummary(name, order, false, false, false, restarts);
      case PodState.Gone() -> new PodSummary(name, order, false, false, false, restarts);
    };
  }
}
