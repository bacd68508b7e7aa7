package dev.activator.ext.affinity;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of affinity.
 *
 * @param cookieSecret what the activator signs its own affinity cookies with, the same for all
 *     activators; without it each process makes one
 * @param podDeletionCost whether pods with the fewest issued keys are removed first, by
 *     {@code controller.kubernetes.io/pod-deletion-cost}; needs the right to list and patch pods
 */
@ConfigurationProperties("activator.affinity")
public record AffinityProperties(@DefaultValue("") String cookieSecret,
    @DefaultValue("false") boolean podDeletionCost) {}
