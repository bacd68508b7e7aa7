package dev.activator;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What "ready" takes, besides synced informers and not draining.
 *
 * @param autoscaler when the link to the autoscaler must be up
 */
@ConfigurationProperties("activator.readiness")
record ReadinessProperties(@DefaultValue("startup") AutoscalerLinkNeed autoscaler) {
  /** When readiness needs the autoscaler. */
  enum AutoscalerLinkNeed {
    /** Until it was up once; a link lost later costs a warning. */
    STARTUP,
    /** At all times. */
    ALWAYS,
    /** Not at all. */
    NEVER
  }
}
