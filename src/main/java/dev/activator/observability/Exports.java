package dev.activator.observability;

import dev.activator.config.OtelVariables;
import dev.activator.config.Proxies;

/**
 * What the process itself, and not a ConfigMap, says of telemetry that is sent somewhere.
 *
 * @param otel what wins over the ConfigMap
 * @param proxies what is on the way
 * @param identity as whose it is filed
 */
public record Exports(OtelVariables otel, Proxies proxies, Identity identity) {}
