package dev.activator.standalone.policy;

import dev.activator.config.RevisionAnnotations;
import dev.activator.kube.policy.IpFamily;
import dev.activator.revision.PortProtocol;
import dev.activator.standalone.policy.ResolvedScaledService.Backend;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
   * @param port 0 if it is unknown
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

  /** @param service null if it does not exist */
  public static ActivatorSlicePlanner of(ResolvedScaledService state,
      @Nullable KubernetesService service,
      Activators activators, Map<String, ActivatorEndpointSlice> present) {
    var object = state.object();
    if (service == null || !object.catchService() || state.target() == null
        || state.backends().stream().noneMatch(one -> isCaught(state, one, service))) {
      return new ActivatorSlicePlanner(object, false, state.ready() > 0, List.of(), present);
    }
    return new ActivatorSlicePlanner(object, true, state.ready() > 0,
        slices(object, ports(state, service, activators), activators), present);
  }

  private static boolean isCaught(ResolvedScaledService state, Backend backend,
      KubernetesService service) {
    var port = service.port(state.port(backend));
    boolean isMain = backend.id().equals(state.object().id());
    return port != null
        && (backend.revision().protocol() == PortProtocol.TCP || isMain && !state.isTls(port));
  }

  /** The ports that are caught, as far as it is known where activators listen for them. */
  private static Map<String, Integer> ports(ResolvedScaledService state,
      KubernetesService service, Activators activators) {
    var ports = new TreeMap<String, Integer>();
    for (var backend : state.backends()) {
      var port = service.port(state.port(backend));
      var number = backend.revision().protocol() == PortProtocol.TCP
          ? Integer.parseInt(
              backend.revision().annotations().getOrDefault(RevisionAnnotations.TCP_PORT, "0"))
          : activators.port();
      if (port != null && number > 0 && isCaught(state, backend, service)) {
        ports.put(port.name(), number);
      }
    }
    return ports;
  }

  private static List<ActivatorEndpointSlice> slices(ScaledService object,
      Map<String, Integer> ports, Activators activators) {
    return ports.isEmpty()
        ? List.of()
        : Stream.of(IpFamily.values())
            .map(family -> new ActivatorEndpointSlice(object.id(), object.uid(), object.service(),
                family, ports, activators.addresses().stream()
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
