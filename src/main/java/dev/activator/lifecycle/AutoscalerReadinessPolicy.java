package dev.activator.lifecycle;

/** Decides when readiness needs the link to the autoscaler. */
public enum AutoscalerReadinessPolicy {
  /**
   * Only until the link has been up once, or could not be opened in time. A later loss only logs a
   * warning.
   */
  STARTUP,
  ALWAYS,
  NEVER
}
