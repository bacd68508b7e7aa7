package dev.activator.lifecycle;

/** Whether the process may be sent requests. */
public sealed interface Readiness {
  record Ready() implements Readiness {}

  /** @param message what the kubelet is told */
  record NotReady(String message) implements Readiness {}
}
