package dev.activator.observability;

import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.snapshots.Labels;

/**
 * What tells this process from others wherever its telemetry ends up.
 *
 * @param service the name of what it is
 * @param version of that; may be empty
 * @param namespace of the pod it runs in
 * @param pod its name
 */
public record Identity(String service, String version, String namespace, String pod) {

  /** The same, in OpenTelemetry's names. */
  public Labels labels() {
    return Labels.of("service.name", service, "service.version", version, "k8s.namespace.name",
        namespace, "k8s.pod.name", pod);
  }

  Resource resource() {
    var all = Resource.getDefault().toBuilder();
    labels().forEach(label -> all.put(label.getName(), label.getValue()));
    return all.build();
  }
}
