package dev.activator.standalone.policy;

import dev.activator.discovery.policy.ContainerProbe.Action;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.revision.PortProtocol;
import dev.activator.standalone.policy.ConnectionPorts.ConnectionPort;
import dev.activator.standalone.policy.ResolvedScaledService.References;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import dev.activator.standalone.policy.ResolvedScaledService.WorkloadState;
import dev.activator.standalone.policy.ScaledWorkload.Probing;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A port of the Service, and how its pods get requests or connections.
 *
 * @param name as the ScaledService names it
 * @param port null if it does not exist
 * @param identity what pods must prove over TLS; null without TLS
 * @param isRefused whether pods get no requests. They still have an identity, because requests to
 *     pods that were listed before must not be sent in plain text
 * @param troubles why it does not work as the manifest says
 */
record ServedPort(String name, KubernetesService.@Nullable Port port,
    PodIdentity.@Nullable OfService identity, PortProtocol protocol, boolean isRefused,
    List<Trouble> troubles) {
  ServedPort {
    troubles = List.copyOf(troubles);
  }

  /** The port to which requests go that no rule sends elsewhere. */
  static ServedPort ofObject(ScaledService object, References found, List<Trouble> troubles) {
    var service = found.service();
    var name = ScaledServiceTroubles.serviceName(object);
    if (service == null) {
      troubles.add(new Trouble("ServiceNotFound", "there is no " + name));
      return missing(object, found);
    }
    var port = service.port(object.port());
    if (port == null) {
      troubles.add(new Trouble("PortNotFound",
          ScaledServiceTroubles.noPort(object, service, object.port())));
    }
    // What is woken may be no pod: the addresses of its Service are those of a machine.
    if (service.selector().isEmpty() && !(object.workload() instanceof WakeSpec)) {
      troubles.add(new Trouble("NoSelector",
          name + " has no selector, so its pods are unknown"));
    }
    if (port == null) {
      return missing(object, found);
    }
    if (!object.tcp().besideHttp()) {
      return ofTcp(object.port(), port, List.of());
    }
    var served = ofHttp(object, found, object.port(), port, ScaledServiceTroubles.SPEAKS_TLS);
    troubles.addAll(served.troubles);
    return served;
  }

  /** Those that rules name, and those for connections. */
  static List<ServedPort> others(ScaledService object, References found) {
    var all = new ArrayList<ServedPort>();
    for (var name : object.otherPorts()) {
      all.add(ofRule(object, found, name));
    }
    var taken = ofOtherFields(object, found.service());
    var connections = object.tcp().names();
    // Without requests, the first one is the ScaledService's port.
    int first = object.tcp().besideHttp() ? 0 : 1;
    connections.subList(0, first).forEach(name -> taken.add(known(found.service(), name)));
    for (var name : connections.subList(first, connections.size())) {
      all.add(ofTcp(object, found, name, !taken.add(known(found.service(), name))));
    }
    return all;
  }

  /**
   * The items of {@code spec.ports} that get connections: those whose port no other field has, and no
   * item before.
   *
   * @param service null if it does not exist
   */
  static List<ConnectionPort> connections(ScaledService object,
      @Nullable KubernetesService service) {
    var taken = ofOtherFields(object, service);
    return object.tcp().ports().stream().filter(one -> taken.add(known(service, one.name())))
        .toList();
  }

  private static Set<Object> ofOtherFields(ScaledService object,
      @Nullable KubernetesService service) {
    var taken = new HashSet<Object>();
    if (object.tcp().besideHttp()) {
      taken.add(known(service, object.port()));
    }
    object.otherPorts().forEach(name -> taken.add(known(service, name)));
    return taken;
  }

  /** The port of the Service, which has a name and a number; its name if there is none. */
  private static Object known(@Nullable KubernetesService service, String name) {
    var port = service == null ? null : service.port(name);
    return port == null ? name : port;
  }

  private static ServedPort ofRule(ScaledService object, References found, String name) {
    var service = found.service();
    var port = service == null ? null : service.port(name);
    if (port != null) {
      return ofHttp(object, found, name, port, ScaledServiceTroubles.RULE_PORT_SPEAKS_TLS);
    }
    return new ServedPort(name, null, PortSecurity.identity(object, found.authorities()),
        secured(PortProtocol.HTTP1, PortSecurity.identity(object, found.authorities())), true,
        service == null
            ? List.of()
            : List.of(new Trouble(ScaledServiceTroubles.RULE_PORT_NOT_FOUND,
                "spec.rules: " + ScaledServiceTroubles.noPort(object, service, name))));
  }

  /** @param isTaken whether another field, or an item before, has this port */
  private static ServedPort ofTcp(ScaledService object, References found, String name,
      boolean isTaken) {
    var service = found.service();
    var port = service == null ? null : service.port(name);
    if (port != null && isTaken) {
      return new ServedPort(name, port, null, PortProtocol.TCP, true,
          List.of(new Trouble(ScaledServiceTroubles.PORT_TAKEN, "port " + port + " in spec.ports is"
              + " already that of spec.serviceRef, of a rule, or of an item before: it takes either"
              + " requests or connections")));
    }
    return port == null
        ? new ServedPort(name, null, null, PortProtocol.TCP, true, service == null
            ? List.of()
            : List.of(new Trouble(ScaledServiceTroubles.TCP_PORT_NOT_FOUND,
                "spec.ports: " + ScaledServiceTroubles.noPort(object, service, name))))
        : ofTcp(name, port, List.of());
  }

  private static ServedPort ofTcp(String name, KubernetesService.Port port,
      List<Trouble> troubles) {
    return new ServedPort(name, port, null, PortProtocol.TCP, false, troubles);
  }

  private static ServedPort missing(ScaledService object, References found) {
    // Requests may still be sent to the former pods of a port that does not exist any more.
    var identity = object.tcp().besideHttp()
        ? PortSecurity.identity(object, found.authorities())
        : null;
    return new ServedPort(object.port(), null, identity,
        object.tcp().besideHttp() ? secured(PortProtocol.HTTP1, identity) : PortProtocol.TCP, true,
        List.of());
  }

  /** @param reason of the trouble that it is not said which certificates to trust */
  private static ServedPort ofHttp(ScaledService object, References found, String name,
      KubernetesService.Port port, String reason) {
    return switch (PortSecurity.of(object, port, found.authorities())) {
      case PortSecurity.Plain _ -> http(name, port, null, List.of());
      case PortSecurity.Tls(var identity) -> http(name, port, identity, List.of());
      case PortSecurity.NotSaid(var identity) -> refused(name, port, identity,
          new Trouble(reason, "port " + port + " of " + ScaledServiceTroubles.serviceName(object)
              + " says that its pods speak TLS, and spec.tls does not say which certificates to"
              + " trust: add it, or set the port's appProtocol to http if they speak plain HTTP"));
      case PortSecurity.NoAuthority(var identity, var problems) -> refused(name, port, identity,
          new Trouble(ScaledServiceTroubles.NO_AUTHORITY, String.join("; ", problems)));
    };
  }

  private static ServedPort http(String name, KubernetesService.Port port,
      PodIdentity.@Nullable OfService identity, List<Trouble> troubles) {
    return new ServedPort(name, port, identity, secured(port.protocol(), identity),
        !troubles.isEmpty(), troubles);
  }

  private static ServedPort refused(String name, KubernetesService.Port port,
      PodIdentity.@Nullable OfService identity, Trouble why) {
    return http(name, port, identity, List.of(why));
  }

  private static PortProtocol secured(PortProtocol plain,
      PodIdentity.@Nullable OfService identity) {
    return identity == null ? plain : PortProtocol.NEGOTIATED;
  }

  /** Whether another field has the port, so that there is no revision for this one. */
  boolean isTaken() {
    return protocol == PortProtocol.TCP && isRefused && port != null;
  }

  /** The port of the Service. Call only if it is not refused. */
  KubernetesService.Port found() {
    return Objects.requireNonNull(port);
  }

  /** @param remarks gets the parts of the workload's probe that are ignored */
  Probing probing(ScaledService object, References found, List<String> remarks) {
    if (isRefused) {
      return Probing.WHEN_READY;
    }
    var connections = protocol == PortProtocol.TCP ? object.tcp().find(name) : null;
    var answering = connections == null ? null : connections.probe();
    if (answering != null) {
      // What is woken says by a condition, too, whether it is ready.
      return new Probing(answering, !(found.workload() instanceof WorkloadState.Wakeable));
    }
    var requests = identity == null ? Action.HTTP : Action.HTTPS;
    return found.workload() instanceof WorkloadState.Found(var workload)
        ? workload.probing(found().target(), protocol == PortProtocol.TCP ? Action.TCP : requests,
            remarks)
        : Probing.WHEN_READY;
  }
}
