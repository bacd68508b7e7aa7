package dev.activator.ext.console;

import dev.activator.revision.ScalingView;
import dev.activator.standalone.policy.ScaledService;
import dev.activator.standalone.policy.ResolvedScaledService;
import dev.activator.standalone.policy.ScaledServiceStatus.Condition;
import dev.activator.platform.RevisionDetailsSource.Setting;
import dev.activator.revision.ScaleTargetRef;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The details of a ScaledService for the console. */
public record ScaledServiceDetails(ResolvedScaledService state) {
  private static final Set<String> WITH_LOGS = Set.of("Deployment", "StatefulSet", "DaemonSet");

  private ScaledService object() {
    return state.object();
  }

  ScaleTargetRef workload() {
    return object().workload();
  }

  /** The URL of the first host that a browser can open. The other hosts are among the settings. */
  @Nullable String url() {
    return object().hosts().stream().filter(host -> !host.startsWith("*") && !isTaken(host))
        .findFirst().map(host -> "http://" + host + "/").orElse(null);
  }

  private boolean isTaken(String host) {
    return state.taken().stream()
        .anyMatch(taken -> taken.host().equals(host) && taken.condition().isEmpty());
  }

  @Nullable Integer maxPods() {
    var max = object().maxReplicas();
    return max.isPresent() ? max.getAsInt() : null;
  }

  /** @param scaling null if another activator scales it; then the problems are in the status */
  List<String> obstacles(@Nullable ScalingView scaling) {
    var all = new LinkedHashSet<String>();
    state.troubles().forEach(trouble -> all.add(trouble.message()));
    var written = object().status().condition("Ready");
    if (scaling != null && scaling.trouble() != null) {
      all.add(scaling.trouble().message());
    } else if (scaling == null && all.isEmpty() && written != null
        && written.status().equals("False")) {
      all.add(written.message());
    }
    state.warnings().forEach(warning -> all.add(warning.message()));
    return List.copyOf(all);
  }

  List<Setting> conditions() {
    return object().status().conditions().stream().map(ScaledServiceDetails::row).toList();
  }

  private static Setting row(Condition condition) {
    return new Setting("condition " + condition.type(),
        condition.status() + (condition.reason().isEmpty()
            || condition.reason().equals(condition.type()) ? "" : ", " + condition.reason()),
        (condition.message().isEmpty() ? "" : condition.message().replaceAll("[.]$", "") + "; ")
            + "since " + condition.since());
  }

  List<Setting> settings() {
    var rows = new ArrayList<Setting>();
    rows.add(new Setting("scales", workload().toString(), "spec.scaleTargetRef"));
    rows.add(new Setting("requests go to",
        "Service " + object().service() + ", port " + object().port(), "spec.serviceRef"));
    rows.add(new Setting("hosts",
        object().hosts().isEmpty()
            ? object().id().name() + "." + object().id().namespace()
            : String.join(", ", object().hosts()),
        object().hosts().isEmpty() ? "its name" : "spec.hosts"));
    object().routes().forEach(rule -> rows.add(new Setting("rule",
        rule + (rule.port().isEmpty() ? "" : ", to port " + rule.port()), "spec.rules")));
    rows.add(new Setting("replicas", replicas(object().minReplicas(), object().maxReplicas()),
        "spec.minReplicas, spec.maxReplicas"));
    var schedule = object().warmTimes().schedule();
    if (schedule != null) {
      schedule.windows()
          .forEach(window -> rows.add(new Setting("replicas " + window + " " + schedule.zone(),
              "at least " + window.minReplicas(), "spec.schedule")));
    }
    rows.add(new Setting("target", object().load().toString(), "spec.target"));
    int limit = object().containerConcurrency();
    rows.add(new Setting("container concurrency", limit == 0 ? "any number" : "" + limit,
        "spec.containerConcurrency"));
    rows.add(new Setting("timeout", seconds(object().timeout()), "spec.timeoutSeconds"));
    rows.add(new Setting("window", seconds(object().window()),
        "spec.scaleDown.stabilizationWindowSeconds"));
    var probe = state.revision().readinessProbe();
    rows.add(new Setting("pods are probed by",
        probe == null ? "Kubernetes only" : "their readinessProbe", workload().toString()));
    return rows;
  }

  private static String replicas(int min, OptionalInt max) {
    return max.isPresent()
        ? min + " to " + max.getAsInt()
        : (min == 0 ? "0 or 1" : "1") + "; an HPA or KEDA may set more";
  }

  private static String seconds(Duration length) {
    return length.toSeconds() + " s";
  }

  String logCommand() {
    var namespace = " -n " + object().id().namespace();
    return WITH_LOGS.contains(workload().kind())
        ? "kubectl logs" + namespace + " " + workload().kind().toLowerCase(Locale.ROOT) + "/"
            + workload().name()
        : "kubectl get pods" + namespace + ", then kubectl logs" + namespace + " <pod>";
  }
}
