package dev.activator.standalone.policy;

import dev.activator.kube.policy.IpFamily;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides which EndpointSlices to write so that requests to the Service of a ScaledService reach
 * the activators while it has no ready pod. It compares the wanted slices with the existing ones.
 *
 * @param object the ScaledService
 * @param catches whether requests to the Service should reach the activators: true if the user has
 *     enabled it, a request can start a pod, and callers do not expect TLS
 * @param hasReadyPods whether the Service has ready pods that are not terminating
 * @param whileAtZero the slices that should exist while the Service has no ready pods; empty if no
 *     activator is ready
 * @param present our existing slices, by name
 */
public record ActivatorSlicePlanner(ScaledService object, boolean catches, boolean hasReadyPods,
    List<ActivatorEndpointSlice> whileAtZero, Map<String, ActivatorEndpointSlice> present) {
  /**
   * The port and addresses where activators take requests.
   *
   * @param addresses the addresses of the ready activators
   */
  public record Activators(int port, List<String> addresses) {
    public static final Activators NONE = new Activators(0, List.of());

    public Activators {
      addresses = List.copyOf(addresses);
    }
  }

  /** A write of an EndpointSlice. */
  public sealed interface Step {
    record Create(ActivatorEndpointSlice slice) implements Step {}

    record Update(ActivatorEndpointSlice slice) implements Step {}

    record Delete(String name) implements Step {}
  }

  public ActivatorSlicePlanner {
    whileAtZero = List.copyOf(whileAtZero);
    present = Map.copyOf(present);
  }

  /** @param port the port of the Service; null if it does not exist */
  public static ActivatorSlicePlanner of(ResolvedScaledService state,
      KubernetesService.@Nullable Port port,
      Activators activators, Map<String, ActivatorEndpointSlice> present) {
    var object = state.object();
    if (port == null || !object.catchService() || state.target() == null || state.isTls(port)) {
      return new ActivatorSlicePlanner(object, false, state.ready() > 0, List.of(), present);
    }
    return new ActivatorSlicePlanner(object, true, state.ready() > 0,
        slices(object, port, activators),
        present);
  }

  private static List<ActivatorEndpointSlice> slices(ScaledService object,
      KubernetesService.Port port,
      Activators activators) {
    return activators.port() == 0
        ? List.of()
        : Stream.of(IpFamily.values())
            .map(family -> new ActivatorEndpointSlice(object.id(), object.uid(), object.service(),
                family,
                port.name(), activators.port(), activators.addresses().stream()
                    .filter(ip -> IpFamily.of(ip) == family).toList()))
            .filter(one -> !one.addresses().isEmpty()).toList();
  }

  /**
   * The necessary writes. The slices should exist while there is no ready pod, and already shortly
   * before the last pods are removed. When a pod becomes ready, they are deleted at once. Until the
   * nodes' proxies receive that, they send requests to pods and activators, and activators forward
   * them.
   *
   * @param now the existing slices, by name; they may be newer than {@link #present}
   * @param removesPods whether the last pods are about to be removed
   */
  public List<Step> steps(Map<String, ActivatorEndpointSlice> now, boolean removesPods) {
    var wanted = hasReadyPods && !removesPods ? List.<ActivatorEndpointSlice>of() : whileAtZero;
    var steps = new ArrayList<Step>();
    for (var slice : wanted) {
      var known = now.get(slice.name());
      if (known == null) {
        steps.add(new Step.Create(slice));
      } else if (!known.equals(slice)) {
        steps.add(new Step.Update(slice));
      }
    }
    var names = wanted.stream().map(ActivatorEndpointSlice::name).toList();
    now.keySet().stream().filter(name -> !names.contains(name)).sorted()
        .forEach(name -> steps.add(new Step.Delete(name)));
    return steps;
  }
}
