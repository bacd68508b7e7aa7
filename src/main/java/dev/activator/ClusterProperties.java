package dev.activator;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How the cluster's API is used.
 *
 * @param kubeconfig the file that says where it is; {@code KUBECONFIG} or {@code --kubeconfig}.
 *     Empty in a pod, which knows by itself
 * @param apiTimeout how long one that does not answer is waited for at the start
 * @param minVersion the oldest API server to work with; {@code KUBERNETES_MIN_VERSION}
 */
@ConfigurationProperties("activator.cluster")
record ClusterProperties(@DefaultValue("") String kubeconfig,
    @DefaultValue("60s") Duration apiTimeout, @DefaultValue("v1.34.0") String minVersion) {}
