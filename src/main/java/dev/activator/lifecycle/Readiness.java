package dev.activator.lifecycle;

/** Whether this activator should get requests. */
public sealed interface Readiness {
  record Ready() implements Readiness {}

  record NotReady(String message) implements Readiness {}
}
