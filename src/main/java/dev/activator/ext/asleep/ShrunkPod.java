package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.ContainerResources;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a pod had before it was shrunk: an entry of {@code status.shrunk} of its ScaledService.
 *
 * @param containers their resources, with which it is woken
 */
record ShrunkPod(String name, String uid, List<ContainerResources> containers) {
  private static final JsonMapper JSON = new JsonMapper();

  ShrunkPod {
    containers = List.copyOf(containers);
  }

  static @Nullable List<ShrunkPod> parse(JsonNode field) {
    return field.isEmpty()
        ? null
        : field.valueStream().map(pod -> new ShrunkPod(pod.path("name").asString(""),
            pod.path("uid").asString(""),
            pod.path("containers").valueStream()
                .map(one -> new ContainerResources(one.path("name").asString(""),
                    texts(one.path("requests")), texts(one.path("limits"))))
                .toList()))
            .toList();
  }

  private static Map<String, String> texts(JsonNode object) {
    return object.propertyStream().collect(Collectors.toMap(Map.Entry::getKey,
        one -> one.getValue().asString("")));
  }

  static JsonNode format(List<ShrunkPod> pods) {
    return JSON.valueToTree(pods);
  }
}
