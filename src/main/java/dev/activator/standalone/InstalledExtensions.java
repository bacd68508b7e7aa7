package dev.activator.standalone;

import dev.activator.config.ConfigValue;
import dev.activator.kube.reflector.RestMapper.Served;
import dev.activator.platform.IdleMethod;
import dev.activator.platform.WakeMethod;
import dev.activator.revision.IdleSpec;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.standalone.policy.ScaledService;
import dev.activator.standalone.policy.WakeSpec;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.standalone.policy.ResolvedScaledService.Readiness;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import dev.activator.standalone.policy.ResolvedScaledService.WorkloadState;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the extensions of this build add to ScaledServices.
 *
 * @param names the names of the extensions
 * @param wakeMethods by the fields of {@code spec.wake}
 * @param idleMethod the reader of {@code spec.idle}; null if there is none
 */
record InstalledExtensions(Set<String> names, Map<String, WakeMethod<?>> wakeMethods,
    @Nullable IdleMethod<?> idleMethod) {
  InstalledExtensions {
    names = Set.copyOf(names);
    wakeMethods = Map.copyOf(wakeMethods);
  }

  /** Finds objects whose conditions count. */
  interface WokenObjects {
    /**
     * The state of an object; null while it is unknown.
     *
     * @param refusal why the conditions of a kind's objects may not be read; null if they may
     */
    @Nullable WorkloadState find(ScaleTargetRef object,
        Function<Served.Here, @Nullable String> refusal);
  }

  /**
   * The state of what {@code spec.wake} names; null while that is unknown.
   *
   * @param objects finds objects whose conditions count
   */
  @Nullable WorkloadState wake(WakeSpec spec, WokenObjects objects) {
    var field = "spec.wake." + spec.method();
    var method = wakeMethods.get(spec.method());
    if (method == null) {
      return new WorkloadState.NotWakeable("FeatureNotInstalled", field
          + " has no effect: this activator was built without the extension that reads it");
    }
    try {
      return wake(method, new ConfigValue(field, spec.fields()), objects);
    } catch (IllegalArgumentException e) {
      return new WorkloadState.NotWakeable("InvalidWake", String.valueOf(e.getMessage()));
    }
  }

  /**
   * Resolves a ScaledService with what {@code spec.idle} adds to its target. Without the extension that
   * reads the field, or with an invalid value, its last pods are removed. If they are asleep, they are
   * woken before. Without the extension they get requests, which may wake them; hidden they would stay
   * for ever.
   */
  ResolvedScaledService idle(ScaledService object,
      Function<ScaledService, ResolvedScaledService> resolve) {
    var idle = object.idle();
    if (idleMethod == null && idle.isInForce()) {
      return resolve.apply(object.withoutIdle()).with(List.of(new Trouble(
          "FeatureNotInstalled",
          "spec.idle has no effect: this activator was built without the extension that reads it"
              + (idle.state() == null
                  ? ""
                  : "; its pods may be asleep until they are restarted"))));
    }
    var state = resolve.apply(object);
    var target = state.target();
    if (idleMethod == null || target == null || !idle.isInForce()) {
      return state;
    }
    try {
      return state.with(target.with(idleMethod.target(target.workload(), idle)));
    } catch (IllegalArgumentException e) {
      var woken = idle.state() == null
          ? target.workload()
          : idleMethod.target(target.workload(), new IdleSpec(null, idle.state()));
      return state.with(target.with(woken)).with(List.of(new Trouble("InvalidIdle",
          e.getMessage() + "; its last pods are removed instead")));
    }
  }

  private static <T extends ScaleTarget> @Nullable WorkloadState wake(WakeMethod<T> method,
      ConfigValue spec, WokenObjects objects) {
    var target = method.read(spec);
    var condition = method.readyCondition(target);
    if (condition == null) {
      return new WorkloadState.Wakeable(target, Readiness.OF_PODS);
    }
    var state = objects.find(condition.object(), method::refusal);
    return switch (state) {
      case WorkloadState.Found(var object) -> new WorkloadState.Wakeable(target,
          object.conditions().contains(condition.type())
              ? Readiness.OF_PODS
              : Readiness.NOT_READY);
      case WorkloadState.Hidden() -> new WorkloadState.Wakeable(target, Readiness.UNKNOWN);
      case null, default -> state;
    };
  }
}
