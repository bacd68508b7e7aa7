package dev.activator.ext.affinity;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of affinity.
 *
 * @param cookieSecret what the activator signs its own affinity cookies with, the same for all
 *     activators; without it each process makes one, so that cookies of other processes are replaced
 * @param podDeletionCost whether pods get the number of the keys that they have issued as
 *     {@code controller.kubernetes.io/pod-deletion-cost}, so that those with the fewest keys are removed
 *     first; needs the right to list and patch pods
 */
@ConfigurationProperties("activator.affinity")
public record AffinityProperties(@DefaultValue("") String cookieSecret,
    @DefaultValue("false") boolean podDeletionCost) {}
