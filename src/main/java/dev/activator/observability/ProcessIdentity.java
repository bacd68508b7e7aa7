package dev.activator.observability;

import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.PrometheusNaming;
import java.util.HashSet;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The attributes of this process that metrics, traces and log lines carry.
 *
 * @param more further attributes, which take precedence over the others
 */
public record ProcessIdentity(String service, String version, String namespace, String pod,
    Map<String, String> more) {
  public ProcessIdentity {
    more = Map.copyOf(more);
  }

  public SortedMap<String, String> attributes() {
    var all = new TreeMap<>(Map.of("service.name", service, "service.version", version,
        "k8s.namespace.name", namespace, "k8s.pod.name", pod));
    all.putAll(more);
    return all;
  }

  /** The attributes as labels for Prometheus, where some names become the same. */
  public Labels labels() {
    var names = new HashSet<String>();
    var labels = Labels.builder();
    attributes().forEach((name, value) -> {
      var valid = PrometheusNaming.sanitizeLabelName(name);
      if (names.add(PrometheusNaming.prometheusName(valid))) {
        labels.label(valid, value);
      }
    });
    return labels.build();
  }
}
