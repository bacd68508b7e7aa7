package dev.activator.observability;

import dev.activator.observability.meter.Tags;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.resources.Resource;

/**
 * What tells this process from others wherever its telemetry ends up.
 *
 * @param service the name of what it is
 * @param version of that; may be empty
 * @param namespace of the pod it runs in
 * @param pod its name
 */
public record Identity(String service, String version, String namespace, String pod) {

  /** As tags, in OpenTelemetry's names. */
  public Tags tags() {
    return Tags.of("service.name", service).and("service.version", version)
        .and("k8s.namespace.name", namespace).and("k8s.pod.name", pod);
  }

  Resource resource() {
    var all = Resource.getDefault().toBuilder();
    var tags = tags();
    for (int i = 0; i < tags.names().size(); i++) {
      all.put(AttributeKey.stringKey(tags.names().get(i)), tags.values().get(i));
    }
    return all.build();
  }
}
