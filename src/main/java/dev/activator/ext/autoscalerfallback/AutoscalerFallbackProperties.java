package dev.activator.ext.autoscalerfallback;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings for starting a revision's first pod while Knative's autoscaler cannot be reached.
 *
 * @param enabled whether the activator starts the first pod itself if requests wait and the
 *     autoscaler has been disconnected for 15 s
 */
@ConfigurationProperties("activator.rescue")
public record AutoscalerFallbackProperties(@DefaultValue("false") boolean enabled) {}
