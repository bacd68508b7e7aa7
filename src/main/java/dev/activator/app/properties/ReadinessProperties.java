package dev.activator.app.properties;

import dev.activator.lifecycle.LinkNeed;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What "ready" takes, besides synced informers and not draining.
 *
 * @param autoscaler when the link to the autoscaler must be up
 */
@ConfigurationProperties("activator.readiness")
public record ReadinessProperties(@DefaultValue("startup") LinkNeed autoscaler) {}
