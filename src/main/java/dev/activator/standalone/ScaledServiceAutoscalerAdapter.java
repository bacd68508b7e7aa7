package dev.activator.standalone;

import dev.activator.standalone.autoscaler.Autoscaler;
import dev.activator.revision.ScalingListener;
import dev.activator.revision.ScalingView;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import dev.activator.standalone.policy.ScaledServiceStatus.Scaling;
import dev.activator.discovery.PodStarts;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleClient;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.kube.LeadershipCheck;
import dev.activator.kube.reflector.KubernetesApiClient;
import dev.activator.platform.IdleMethod;
import dev.activator.platform.WakeMethod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Connects ScaledServices with the autoscaler: it passes their changes to the autoscaler, and the
 * autoscaler's decisions to the writer of statuses. It has the ways to start and stop workloads.
 */
public final class ScaledServiceAutoscalerAdapter implements ScalingListener {
  private final ScaledServices services;
  private final ScaleClients scales;
  private final List<WakeMethod<?>> wakeMethods = new ArrayList<>();
  private @Nullable IdleMethod<?> idleMethod;
  private volatile BiConsumer<String, Duration> wakes = (_, _) -> {
  };
  private volatile @Nullable ScaledServiceStatusWriter statusWriter;
  private volatile @Nullable ActivatorEndpointSliceWriter sliceWriter;
  private volatile @Nullable SlowStarts slow;
  /** What is scaled. Used where ScaledServices are published. */
  private final Map<RevisionId, ScaleTarget> workloads = new HashMap<>();

  /**
   * @param client of the {@code scale} subresource
   * @param onWrite gets the answer to each write
   */
  public ScaledServiceAutoscalerAdapter(ScaledServices services,
      ScaleClient<? super ScaleTargetRef> client, Consumer<ScaleApiResult> onWrite) {
    this.services = services;
    this.scales = new ScaleClients(this::sliceWriter, onWrite).add(ScaleTargetRef.class, client);
  }

  ScaledServices services() {
    return services;
  }

  /** The autoscaler's client of all targets. */
  public ScaleClients scales() {
    return scales;
  }

  /** Adds a way to start and stop what has no scale. Call before {@link #openClients}. */
  void add(WakeMethod<?> method) {
    wakeMethods.add(method);
  }

  /** Sets the way in which the last pods are put to sleep. Call before {@link #openClients}. */
  void setIdleMethod(IdleMethod<?> method) {
    idleMethod = method;
  }

  /** Sets the names of the extensions of this build. Call after those have added their methods. */
  void setExtensions(Set<String> names) {
    services.extensions(names, wakeMethods, idleMethod);
  }

  /** Makes the clients of what extensions start, stop and put to sleep. */
  public void openClients(Loop loop, Supplier<KubernetesApiClient> api, LeadershipCheck leadership,
      IdleEnvironment.Activators activators) {
    wakeMethods.forEach(method -> scales.add(method, api));
    if (idleMethod != null) {
      scales.add(idleMethod,
          new IdleEnvironment(loop, api, scales, leadership, this, services, activators));
    }
  }

  /** Subscribes to the ScaledServices. Call before the watcher starts. */
  public void follow(Autoscaler autoscaler, ScaledServiceStatusWriter to,
      ActivatorEndpointSliceWriter catches) {
    statusWriter = to;
    sliceWriter = catches;
    services.caught().subscribe("EndpointSlices", catches::changed);
    services.changes().subscribe("autoscaler", state -> {
      to.changed(state);
      scale(state, autoscaler);
    });
    services.ends().subscribe("autoscaler", last -> {
      targetGone(last, autoscaler);
      autoscaler.pods(last.object().id(), 0, 0);
      to.gone(last.object().id());
      catches.gone(last.object().id());
    });
  }

  /** Subscribes to the starts of pods that are watched here. */
  public void follow(PodStarts starts, Loop loop) {
    slow = new SlowStarts(loop, starts.slow()::publish);
    starts.failures().subscribe("statuses", now -> statusWriter().startFailed(now));
    starts.progress().subscribe("statuses", now -> statusWriter().starts(now));
    starts.progressEnded().subscribe("statuses",
        last -> statusWriter().starts(RevisionStartProgress.none(last.revision())));
  }

  /** Stops scaling the workload, but not that of a Knative revision with the same name. */
  private void targetGone(ResolvedScaledService last, Autoscaler autoscaler) {
    var scaled = workloads.remove(last.object().id());
    if (scaled != null) {
      Objects.requireNonNull(slow).gone(last.object().id());
      autoscaler.targetGone(last.object().id(), scaled);
    }
  }

  private void scale(ResolvedScaledService state, Autoscaler autoscaler) {
    var target = state.target();
    if (target == null) {
      targetGone(state, autoscaler);
    } else {
      workloads.put(target.id(), target.workload());
      autoscaler.target(target);
    }
    autoscaler.pods(state.object().id(), state.ready(), state.present());
  }

  public ScaledServiceStatusWriter statusWriter() {
    return Objects.requireNonNull(statusWriter);
  }

  public ActivatorEndpointSliceWriter sliceWriter() {
    return Objects.requireNonNull(sliceWriter);
  }

  /** Writes an Event that requests to the Service do not reach the activators. */
  public void notCaught(RevisionId id, String why) {
    happened(id, true, "ServiceNotCaught", why);
  }

  /** Call when this activator begins to scale. */
  void elected() {
    Objects.requireNonNull(slow).reset();
  }

  @Override
  public void changed(ScalingView view) {
    statusWriter().scaled(view.id(), scaling(view));
    Objects.requireNonNull(slow).changed(view);
  }

  static Scaling scaling(ScalingView view) {
    var trouble = view.trouble();
    var state = view.active().state().name();
    return new Scaling(view.current(), view.desired(),
        state.charAt(0) + state.substring(1).toLowerCase(Locale.ROOT), view.active().reason(),
        view.active().message(),
        trouble == null ? null : new Trouble(trouble.reason(), trouble.message()), view.note(),
        view.state() == null ? "" : view.state().text());
  }

  /** Sets what gets the method and the time of each wake. */
  public void onWake(BiConsumer<String, Duration> listener) {
    wakes = listener;
  }

  @Override
  public void woken(String method, Duration took) {
    wakes.accept(method, took);
  }

  @Override
  public void happened(RevisionId id, boolean warning, String reason, String message) {
    statusWriter().happened(id, warning, reason, message);
  }
}
