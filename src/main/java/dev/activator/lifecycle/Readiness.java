package dev.activator.lifecycle;

public sealed interface Readiness {
  record Ready() implements Readiness {}

  record NotReady(String message) implements Readiness {}
}
