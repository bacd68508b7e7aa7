package dev.activator.lifecycle;

/** When readiness needs the link to the autoscaler. */
public enum ReadinessPolicy {
  /** Until it was up once; a link lost later costs a warning. */
  STARTUP,
  /** At all times. */
  ALWAYS,
  /** Not at all. */
  NEVER
}
