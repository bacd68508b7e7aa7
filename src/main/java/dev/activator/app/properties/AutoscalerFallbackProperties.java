package dev.activator.app.properties;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings for starting a revision's first pod while Knative's autoscaler cannot be reached.
 *
 * @param enabled whether the first pod of a revision at zero is started without the autoscaler, when
 *     requests wait and it has not been connected for 15 s
 */
@ConfigurationProperties("activator.rescue")
public record AutoscalerFallbackProperties(@DefaultValue("false") boolean enabled) {}
