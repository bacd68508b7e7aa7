package dev.activator.embedded.runtime.policy;

/**
 * The state of one pod that its ReplicaSet's controller needs.
 *
 * @param order higher for younger pods
 * @param listed whether Endpoints have its address
 * @param wanted false if it must stop
 */
public record ReplicaSetPodState(String name, long order, boolean listed, boolean ready,
    boolean wanted,
    int restarts) {
  public static ReplicaSetPodState of(String name, long order, LocalPodState state, int restarts) {
    return switch (state) {
      case LocalPodState.Running(var run, var ready, var served, var failures) ->
        new ReplicaSetPodState(name, order, true, ready, true, restarts);
      case LocalPodState.Waiting(var run, var failures) ->
        new ReplicaSetPodState(name, order, true, false, true, restarts);
      case LocalPodState.Draining(var run) ->
        new ReplicaSetPodState(name, order, false, false, false, restarts);
      case LocalPodState.Stopping(var run) ->
        new ReplicaSetPodState(name, order, false, false, false, restarts);
      case LocalPodState.Gone() ->
        new ReplicaSetPodState(name, order, false, false, false, restarts);
    };
  }
}
