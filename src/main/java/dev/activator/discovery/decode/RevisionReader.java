package dev.activator.discovery.decode;

import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.StatusCondition;
import dev.activator.kube.decode.WatchedObjectReader;
import dev.activator.config.ColdStartRulesReader;
import dev.activator.revision.PortProtocol;
import dev.activator.revision.RequestTimeouts;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionStartFailure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a Revision: its protocol, limits, timeouts and readiness probe, and the reason why it
 * cannot start.
 *
 * <p><b>Source.</b> Knative's {@code revision_helpers.go} and {@code newRevisionWatcher}.
 */
final class RevisionReader implements WatchedObjectReader<Revision> {
  private static final String H2C_PORT = "h2c";
  private static final List<String> START_CONDITIONS = List.of("ContainerHealthy",
      "ResourcesAvailable");

  private PodTemplateContainers containers = new PodTemplateContainers(List.of());
  private int containerConcurrency;
  private int timeoutSeconds;
  private int responseStartTimeoutSeconds;
  private int idleTimeoutSeconds;
  private final List<StatusCondition> conditions = new ArrayList<>();

  @Override
  public void field(String name, JsonCursor in) {
    switch (name) {
      case "spec" -> spec(in);
      case "status" -> status(in);
    }
  }

  private void spec(JsonCursor in) {
    for (var field : in.fields()) {
      switch (field) {
        case "containers" -> containers = PodTemplateContainers.read(in);
        case "containerConcurrency" -> containerConcurrency = in.count(0);
        case "timeoutSeconds" -> timeoutSeconds = in.count(0);
        case "responseStartTimeoutSeconds" -> responseStartTimeoutSeconds = in.count(0);
        case "idleTimeoutSeconds" -> idleTimeoutSeconds = in.count(0);
      }
    }
  }

  private void status(JsonCursor in) {
    for (var field : in.fields()) {
      if (field.equals("conditions")) {
        for (var _ : in.items()) {
          conditions.add(StatusCondition.read(in));
        }
      }
    }
  }

  @Override
  public Revision decoded(DecodedMetadata metadata, JsonCursor in) {
    if (containers.isNone()) {
      in.remark("spec.containers is empty");
    }
    var probe = containers.readinessProbe(metadata.annotations(), in);
    boolean kubernetesDecides = probe != null
        && !metadata.annotations().containsKey(PodTemplateContainers.READINESS_PATH)
        && containers.onlyKubernetesKnows();
    var rules = ColdStartRulesReader.read(Map.of(), metadata.annotations());
    if (rules != null) {
      rules.problems().forEach(problem -> in.remark(problem + "; it is ignored"));
    }
    return new Revision(RevisionLabelReader.idOf(metadata.namespace(), metadata.name()),
        metadata.uid(),
        containers.firstPortName().equals(H2C_PORT) ? PortProtocol.H2C : PortProtocol.HTTP1,
        containerConcurrency, timeouts(), containers.probesBeforeReady() && !kubernetesDecides,
        probe, metadata.labels(),
        metadata.annotations(), startFailure(), rules, null);
  }

  private RequestTimeouts timeouts() {
    var read = new RequestTimeouts(
        timeoutSeconds == 0
            ? RequestTimeouts.DEFAULT.overall()
            : Duration.ofSeconds(timeoutSeconds),
        Duration.ofSeconds(responseStartTimeoutSeconds), Duration.ofSeconds(idleTimeoutSeconds));
    // Most revisions have the defaults, and share one object.
    return read.equals(RequestTimeouts.DEFAULT) ? RequestTimeouts.DEFAULT : read;
  }

  private @Nullable RevisionStartFailure startFailure() {
    for (var type : START_CONDITIONS) {
      for (var condition : conditions) {
        if (condition.isFalse(type)) {
          return new RevisionStartFailure(condition.reason(), condition.message(),
              condition.lastTransitionTime());
        }
      }
    }
    return null;
  }
}
