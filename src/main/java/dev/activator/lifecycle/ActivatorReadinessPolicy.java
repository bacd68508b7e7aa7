package dev.activator.lifecycle;

/** When readiness needs the link to the autoscaler. */
public enum ActivatorReadinessPolicy {
  /** Until it was up once, or could not be opened for a while; a later loss only logs a warning. */
  STARTUP,
  ALWAYS,
  NEVER
}
