package dev.activator.ext.asleep.policy;

import dev.activator.config.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The requests and limits of a container, by resource. */
public record ContainerResources(String name, Map<String, String> requests,
    Map<String, String> limits) {
  public ContainerResources {
    requests = Map.copyOf(requests);
    limits = Map.copyOf(limits);
  }

  /** Reads a container of a pod's spec or status. */
  public static ContainerResources of(Map<?, ?> container) {
    var resources = container.get("resources");
    return new ContainerResources(String.valueOf(container.get("name")),
        quantities(resources, "requests"), quantities(resources, "limits"));
  }

  private static Map<String, String> quantities(@Nullable Object resources, String field) {
    var all = new TreeMap<String, String>();
    if (resources instanceof Map<?, ?> both && both.get(field) instanceof Map<?, ?> known) {
      known.forEach((name, value) -> all.put(String.valueOf(name), String.valueOf(value)));
    }
    return all;
  }

  /** Of what it has, as much as it is shrunk to. The API refuses to add a resource. */
  public ContainerResources shrunk(ShrinkSpec to) {
    return new ContainerResources(name, smaller(requests, to.requests()),
        smaller(limits, to.limits()));
  }

  private static Map<String, String> smaller(Map<String, String> now, Map<String, String> to) {
    var all = new TreeMap<>(now);
    to.forEach((resource, value) -> all.computeIfPresent(resource,
        (_, known) -> compare(known, value) > 0 ? value : known));
    return all;
  }

  /** Whether it has at least these, in numbers: the API writes 1000m as 1. */
  boolean has(ContainerResources wanted) {
    return isSame(requests, wanted.requests) && isSame(limits, wanted.limits);
  }

  private static boolean isSame(Map<String, String> now, Map<String, String> wanted) {
    return wanted.entrySet().stream().allMatch(
        one -> now.containsKey(one.getKey())
            && compare(Objects.requireNonNull(now.get(one.getKey())), one.getValue()) == 0);
  }

  private static int compare(String a, String b) {
    return Quantity.parse(a).number().compareTo(Quantity.parse(b).number());
  }

  /**
   * The resources whose change restarts a container, which is worse than removing the pod.
   *
   * <p><b>Source.</b> {@code resizePolicy}; without one a resource changes in place.
   */
  public static List<String> restartedBy(Map<?, ?> container) {
    return container.get("resizePolicy") instanceof List<?> policies
        ? policies.stream().filter(Map.class::isInstance).map(one -> (Map<?, ?>) one)
            .filter(one -> "RestartContainer".equals(one.get("restartPolicy")))
            .map(one -> String.valueOf(one.get("resourceName"))).toList()
        : List.of();
  }
}
