package dev.activator.app.properties;

import dev.activator.cluster.endpoints.EndpointsSource;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Where the addresses of pods and activators come from.
 *
 * @param endpointsSource which objects are read: {@code endpointslices}, {@code endpoints}, or
 *     {@code auto} for EndpointSlices where they can be used and Endpoints elsewhere
 */
@ConfigurationProperties("activator")
public record AddressProperties(@DefaultValue("auto") EndpointsSource endpointsSource) {}
