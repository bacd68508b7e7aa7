package dev.activator.standalone;

import dev.activator.config.NamespaceHostRules;
import dev.activator.http.HeaderFieldList;
import dev.activator.discovery.RevisionChangePublisher;
import dev.activator.discovery.RevisionSource;
import dev.activator.kube.ClusterStartup;
import dev.activator.kube.KubernetesSession;
import dev.activator.kube.policy.IpFamily;
import dev.activator.loop.Topic;
import dev.activator.proxy.policy.RevisionResolver.HostRouter;
import dev.activator.platform.IdleMethod;
import dev.activator.platform.WakeMethod;
import dev.activator.platform.WorkloadDetails;
import dev.activator.revision.IdleState;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.RevisionId;
import dev.activator.standalone.policy.ActivatorSlicePlanner;
import dev.activator.standalone.policy.ActivatorSlicePlanner.Activators;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.standalone.policy.ResolvedScaledService.Backend;
import dev.activator.standalone.policy.TcpPortTable;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The ScaledServices of the cluster: the source of the revisions that are made from them, and the
 * router of requests to them.
 *
 * <p><b>Threads.</b> Topics get their subscribers before the start, and publish on the cluster's loop.
 * Any thread may call lookups.
 */
public final class ScaledServices implements RevisionSource, HostRouter {
  private final Scope scope;
  private final RevisionChangePublisher<ResolvedScaledService> states = new RevisionChangePublisher<>(
      "ScaledService");
  private final Topic<ActivatorSlicePlanner> caught = new Topic<>(
      "EndpointSlices that catch requests");
  private volatile @Nullable ScaledServiceResolver resolver;
  private volatile InstalledExtensions extensions = new InstalledExtensions(Set.of(), Map.of(),
      null);

  /**
   * Which ScaledServices this installation handles, and who shares their pods.
   *
   * @param domain the cluster's DNS domain, which is the suffix of their host names
   * @param hosts the hosts that each namespace may claim
   * @param namespaces the namespaces that this installation handles; empty for all
   * @param maxTimeout the bound of their {@code timeoutSeconds}
   * @param tcp how connections may come to TCP ports
   * @param service the namespace and name of the activators' own Service; null if this is the only
   *     activator
   * @param alone returns the addresses of this activator if it is the only one
   */
  public record Scope(String domain, NamespaceHostRules hosts, Set<String> namespaces,
      Duration maxTimeout, TcpPortTable.Allowed tcp, @Nullable RevisionId service,
      Supplier<Activators> alone) {
    /** The scope of the only activator, which catches no requests. */
    public Scope(String domain, NamespaceHostRules hosts, Set<String> namespaces,
        Duration maxTimeout, TcpPortTable.Allowed tcp) {
      this(domain, hosts, namespaces, maxTimeout, tcp, null, () -> Activators.NONE);
    }

    public Scope sharedBy(RevisionId activators) {
      return new Scope(domain, hosts, namespaces, maxTimeout, tcp, activators, alone);
    }

    public Scope alone(Supplier<Activators> where) {
      return new Scope(domain, hosts, namespaces, maxTimeout, tcp, null, where);
    }
  }

  public ScaledServices(Scope scope) {
    this.scope = scope;
  }

  /** Sets the extensions of this build, by their names, and what they add. Call before the start. */
  public void extensions(Set<String> names, List<WakeMethod<?>> wakeMethods,
      @Nullable IdleMethod<?> idleMethod) {
    extensions = new InstalledExtensions(names,
        wakeMethods.stream().collect(Collectors.toMap(WakeMethod::field, method -> method)),
        idleMethod);
  }

  /** As {@link IdleMethod.Environment#pods}. */
  public CompletableFuture<@Nullable PodsByReadiness> pods(RevisionId id) {
    var known = resolver;
    return known == null ? CompletableFuture.completedFuture(null) : known.pods(id);
  }

  /** As {@link IdleMethod.Environment#woken}. */
  public void woken(RevisionId id, @Nullable IdleState state) {
    var known = resolver;
    if (known != null) {
      known.woken(id, state);
    }
  }

  /** Says whether another program has a port of the activators. */
  public void portTaken(int port, boolean taken) {
    var known = resolver;
    if (known != null) {
      known.portTaken(port, taken);
    }
  }

  /** Publishes ScaledServices, each before its revisions and pods. */
  public Topic<ResolvedScaledService> changes() {
    return states.changes();
  }

  /** Publishes the last state of deleted ScaledServices. */
  public Topic<ResolvedScaledService> ends() {
    return states.ends();
  }

  /** Publishes the EndpointSlices that should catch requests to the Service of a ScaledService. */
  public Topic<ActivatorSlicePlanner> caught() {
    return caught;
  }

  /**
   * The ScaledService of a revision, which may belong to any of its ports; null if there is none.
   */
  public @Nullable ResolvedScaledService find(RevisionId id) {
    return states.find(id.withoutPort());
  }

  /** Details of the ScaledService of a revision; null if there is none. */
  public @Nullable WorkloadDetails details(RevisionId id) {
    var state = find(id);
    return state == null ? null : new ScaledServiceDetails(state);
  }

  @Override
  public @Nullable RevisionId revision(String host, String target, HeaderFieldList fields) {
    var known = resolver;
    return known == null ? null : known.revision(host, target, fields);
  }

  @Override
  public boolean isKnown(String host) {
    var known = resolver;
    return known != null && known.hosts().has(host);
  }

  @Override
  public List<KubernetesSession.Followed> follow(KubernetesSession session, IpFamily preferred,
      Sink to) {
    var made = new ScaledServiceResolver(session, preferred, scope, () -> extensions, to,
        new Publisher(to), Clock.systemUTC());
    resolver = made;
    return made.follow();
  }

  @Override
  public List<ClusterStartup.Beginning> followMore() {
    var known = resolver;
    return known == null ? List.of() : known.named();
  }

  @Override
  public List<RevisionId> revisionsOf(RevisionId object) {
    var last = states.find(object);
    return last == null ? List.of() : last.backends().stream().map(Backend::id).toList();
  }

  @Override
  public void onRevisionChange(RevisionId name) {
    var known = resolver;
    if (known != null) {
      known.onRevisionChange(name);
    }
  }

  @Override
  public void onServiceChange(RevisionId name) {
    var known = resolver;
    if (known != null) {
      known.onNameChange(name);
    }
  }

  @Override
  public String podSelector(RevisionId id) {
    var known = resolver;
    return known == null ? "" : known.podSelector(id);
  }

  /** Publishes what is resolved: each ScaledService, then its revisions and pods. */
  private final class Publisher implements ScaledServiceResolver.ScaledServicesListener {
    private final Sink to;

    Publisher(Sink to) {
      this.to = to;
    }

    @Override
    public @Nullable ResolvedScaledService find(RevisionId id) {
      return states.find(id);
    }

    @Override
    public void changed(ResolvedScaledService now) {
      var before = states.find(now.object().id());
      states.changed(now.object().id(), now);
      now.backends().forEach(one -> to.changed(one.revision(), one.pods()));
      portsGone(before, now);
    }

    @Override
    public void portsAdded(ResolvedScaledService before, ResolvedScaledService now) {
      added(before, now).forEach(one -> to.changed(one.revision(), one.pods()));
    }

    @Override
    public void again(ResolvedScaledService now) {
      var before = states.find(now.object().id());
      states.again(now.object().id(), now);
      portsGone(before, now);
      now.backends().forEach(one -> to.again(one.revision(), one.pods()));
    }

    private void portsGone(@Nullable ResolvedScaledService before, ResolvedScaledService now) {
      if (before != null) {
        added(now, before).map(Backend::id).forEach(to::gone);
      }
    }

    /** The ports of {@code now} that {@code before} has not. */
    private static Stream<Backend> added(ResolvedScaledService before, ResolvedScaledService now) {
      var known = before.ports().stream().map(Backend::id).toList();
      return now.ports().stream().filter(one -> !known.contains(one.id()));
    }

    @Override
    public void gone(RevisionId id) {
      var ids = revisionsOf(id);
      states.gone(id);
      ids.forEach(to::gone);
    }

    @Override
    public void caught(ActivatorSlicePlanner now) {
      caught.publish(now);
    }
  }
}
