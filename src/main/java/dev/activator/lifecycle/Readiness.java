package dev.activator.lifecycle;

/** Whether the process may be sent requests. */
public sealed interface Readiness {
  /** It may. */
  record Ready() implements Readiness {}

  /**
   * It may not, or not yet.
   *
   * @param message what the kubelet is told
   */
  record NotReady(String message) implements Readiness {}
}
