package dev.activator.standalone;

import dev.activator.config.ConfigValue;
import dev.activator.platform.WakeMethod;
import dev.activator.revision.WakeSpec;
import dev.activator.standalone.policy.ResolvedScaledService.WorkloadState;
import java.util.Map;
import java.util.Set;

/**
 * What the extensions of this build add to ScaledServices.
 *
 * @param names the names of the extensions
 * @param wakeMethods by the fields of {@code spec.wake}
 */
record InstalledExtensions(Set<String> names, Map<String, WakeMethod<?>> wakeMethods) {
  InstalledExtensions {
    names = Set.copyOf(names);
    wakeMethods = Map.copyOf(wakeMethods);
  }

  WorkloadState wake(WakeSpec spec) {
    var field = "spec.wake." + spec.method();
    var method = wakeMethods.get(spec.method());
    if (method == null) {
      return new WorkloadState.NotWakeable("FeatureNotInstalled", field
          + " has no effect: this activator was built without the extension that reads it");
    }
    try {
      return new WorkloadState.Wakeable(method.read(new ConfigValue(field, spec.fields())));
    } catch (IllegalArgumentException e) {
      return new WorkloadState.NotWakeable("InvalidWake", String.valueOf(e.getMessage()));
    }
  }
}
