package dev.activator.app.properties;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Which ConfigMaps of the system namespace are read, besides {@code config-network}.
 *
 * @param logging how much is logged; {@code CONFIG_LOGGING_NAME}
 * @param observability metrics, traces, request log and profiling; {@code
 *     CONFIG_OBSERVABILITY_NAME}
 */
@ConfigurationProperties("activator.config-maps")
public record ConfigMapProperties(@DefaultValue("config-logging") String logging,
    @DefaultValue("config-observability") String observability) {}
