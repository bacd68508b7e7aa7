package dev.activator.standalone.policy;

import dev.activator.discovery.policy.ContainerProbe;
import dev.activator.revision.ReadinessProbeSpec;
import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A workload that a ScaledService scales: a Deployment, or an object of another kind with a pod
 * template.
 *
 * @param id the namespace and name
 * @param labels the labels of its pod template
 * @param containers the containers of its pod template; empty if there are none
 * @param isGated whether more than these containers decides if a pod is ready: readinessGates, or the
 *     readinessProbe of an init container that keeps running
 * @param failure why no pods can be created, from the condition {@code ReplicaFailure}; else empty
 * @param conditions the types of its conditions that are true; empty unless it is woken by them
 */
public record ScaledWorkload(RevisionId id, Map<String, String> labels, List<Container> containers,
    boolean isGated, String failure, Set<String> conditions) {
  public ScaledWorkload {
    labels = Map.copyOf(labels);
    containers = List.copyOf(containers);
    conditions = Set.copyOf(conditions);
  }

  /**
   * @param startsSlowly whether the container has a startupProbe or a postStart hook, before whose
   *     end it is not ready
   */
  public record Container(Map<String, Integer> ports, @Nullable ContainerProbe probe,
      boolean startsSlowly) {
    public Container {
      ports = Map.copyOf(ports);
    }

    boolean has(int port) {
      return ports.containsValue(port);
    }

    /** The number of a port, which is given by name or number; 0 if it is unknown. */
    int number(String port) {
      return port.matches("\\d{1,5}") ? Integer.parseInt(port) : ports.getOrDefault(port, 0);
    }
  }

  /**
   * The probe that the activator sends to pods, and its meaning.
   *
   * @param beforeReady whether a pod that answers gets requests before Kubernetes calls it ready
   */
  public record Probing(ReadinessProbeSpec probe, boolean beforeReady) {
    /**
     * Pods get requests only when Kubernetes calls them ready. The probe only shows that they can
     * be reached.
     */
    public static final Probing WHEN_READY = new Probing(ReadinessProbeSpec.CONNECT, false);
  }

  /**
   * The probe for pods of this template: its readinessProbe, if the activator can send that to the
   * port for requests.
   *
   * @param target the name or number of the pods' port for requests
   * @param get how the activator sends requests: {@code HTTP} or {@code HTTPS}, or {@code TCP} if it
   *     sends none
   * @param remarks gets the parts of the probe that are ignored
   */
  public Probing probing(String target, ContainerProbe.Action get, List<String> remarks) {
    var serving = serving(target);
    if (serving == null || isGated || containers.stream().anyMatch(Container::startsSlowly)) {
      return Probing.WHEN_READY;
    }
    var probe = serving.probe;
    if (probe == null) {
      return new Probing(ReadinessProbeSpec.CONNECT, othersAreReady(serving));
    }
    int port = serving.number(probe.target().port());
    boolean isSame = port != 0 && port == serving.number(target);
    if (!isSame) {
      return Probing.WHEN_READY;
    }
    var spec = probe.spec(get, remarks);
    return probe.isShownBy(get)
        ? new Probing(spec, othersAreReady(serving))
        : Probing.WHEN_READY;
  }

  private boolean othersAreReady(Container serving) {
    var others = new ArrayList<>(containers);
    others.remove(serving);
    return others.stream().allMatch(one -> one.probe == null);
  }

  private @Nullable Container serving(String target) {
    return containers.size() == 1
        ? containers.getFirst()
        : containers.stream()
            .filter(one -> one.number(target) != 0 && one.has(one.number(target))).findFirst()
            .orElse(null);
  }
}
