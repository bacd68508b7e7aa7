package dev.activator.cluster.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Compares the EndpointSlices that should lead a ScaledService's requests to activators with those
 * that exist, and says which to write.
 *
 * @param object the ScaledService
 * @param catches whether requests are to be caught, and would wake it
 * @param hasReadyPods whether the Service has pods that are ready and do not terminate
 * @param whileAtZero the slices that lead to activators while it has none; empty if no activator is ready
 * @param present the slices of ours that exist, by name
 */
public record ActivatorSlicePlanner(ScaledService object, boolean catches, boolean hasReadyPods,
    List<ActivatorEndpointSlice> whileAtZero, Map<String, ActivatorEndpointSlice> present) {
  /**
   * Where activators take requests.
   *
   * @param addresses of those that are ready
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

  /** @param port of the Service; null if there is none */
  public static ActivatorSlicePlanner of(ResolvedScaledService state,
      KubernetesService.@Nullable Port port,
      Activators activators, Map<String, ActivatorEndpointSlice> present) {
    var object = state.object();
    if (port == null || !object.catchService() || state.target() == null) {
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
   * The writes that are needed. The slices exist while there is no ready pod, and from shortly
   * before the last ones go. The first ready pod ends them at once. Until the proxies know, they
   * send requests to pods and activators, and an activator passes them on.
   *
   * @param now the slices that exist, by name; what was written may not be in {@link #present} yet
   * @param goesToZero whether the last pods are about to be removed
   */
  public List<Step> steps(Map<String, ActivatorEndpointSlice> now, boolean goesToZero) {
    var wanted = hasReadyPods && !goesToZero ? List.<ActivatorEndpointSlice>of() : whileAtZero;
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
