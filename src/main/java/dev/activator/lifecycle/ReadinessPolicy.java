package dev.activator.lifecycle;

/** When readiness needs the link to the autoscaler. */
public enum ReadinessPolicy {
  /** Until it was up once, or could not be opened for a while; a link lost later costs a warning. */
  STARTUP,
  /** At all times. */
  ALWAYS,
  /** Not at all. */
  NEVER
}
