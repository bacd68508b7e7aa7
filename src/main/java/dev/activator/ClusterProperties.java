package dev.activator;

import dev.activator.cluster.ReflectorSettings;
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
 * @param watchAlarm how long no watch may be open before the log warns; after twice that everything
 *     is listed anew
 * @param auditPeriod how often, give or take a tenth, what is known is compared with a fresh list
 */
@ConfigurationProperties("activator.cluster")
record ClusterProperties(@DefaultValue("") String kubeconfig,
    @DefaultValue("60s") Duration apiTimeout, @DefaultValue("v1.34.0") String minVersion,
    @DefaultValue("60s") Duration watchAlarm, @DefaultValue("10m") Duration auditPeriod) {

  ClusterProperties {
    requirePositive("watch-alarm", watchAlarm);
    requirePositive("audit-period", auditPeriod);
  }

  private static void requirePositive(String name, Duration value) {
    if (!value.isPositive()) {
      throw new IllegalArgumentException(
          "activator.cluster." + name + " is " + value + ", but must be more than 0");
    }
  }

  ReflectorSettings reflectorSettings() {
    var usual = ReflectorSettings.DEFAULT;
    return new ReflectorSettings(watchAlarm, usual.doubtAfter(), auditPeriod, usual.auditGrace());
  }
}
