package dev.activator.ext.podstarts;

import dev.activator.kube.decode.DecodedMetadata;
import dev.activator.kube.decode.JsonCursor;
import dev.activator.kube.decode.StatusCondition;
import dev.activator.kube.decode.WatchedObjectReader;
import dev.activator.ext.podstarts.policy.PodStartStatus;
import dev.activator.ext.podstarts.policy.PodStartStatus.FailureReason;
import dev.activator.ext.podstarts.policy.PodStartStatus.Termination;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the progress of a pod's start, and the reason why its containers do not start.
 *
 * <p><b>Source.</b> {@code PodStatus} in {@code k8s.io/api/core/v1/types.go}.
 */
final class PodStartStatusReader implements WatchedObjectReader<PodStartStatus> {
  private static final String SCHEDULED = "PodScheduled";
  private static final String PREPARED = "PodReadyToStartContainers";
  private static final Map<String, StartPhase> CONDITIONS = Map.of(SCHEDULED, StartPhase.SCHEDULE,
      PREPARED, StartPhase.PREPARE, "Initialized", StartPhase.INIT);

  private String phase = "";
  private ContainerStarts initContainers = ContainerStarts.NONE;
  private ContainerStarts containers = ContainerStarts.NONE;
  private @Nullable FailureReason ofScheduling;
  private boolean notPrepared;
  private final Map<StartPhase, Instant> ends = new EnumMap<>(StartPhase.class);

  /**
   * @param failure the failure of the first container that fails
   * @param started when the last container was started; null unless all run
   */
  private record ContainerStarts(@Nullable FailureReason failure, @Nullable Instant started) {
    static final ContainerStarts NONE = new ContainerStarts(null, null);
  }

  @Override
  public void field(String name, JsonCursor in) {
    if (name.equals("status")) {
      for (var field : in.fields()) {
        switch (field) {
          case "phase" -> phase = in.text();
          case "initContainerStatuses" -> initContainers = containers(in);
          case "containerStatuses" -> containers = containers(in);
          case "conditions" -> conditions(in);
        }
      }
    }
  }

  private static ContainerStarts containers(JsonCursor in) {
    FailureReason failure = null;
    var last = Instant.MIN;
    boolean all = true;
    for (var _ : in.items()) {
      var one = container(in);
      failure = failure == null ? one.failure : failure;
      if (one.started == null) {
        all = false;
      } else if (one.started.isAfter(last)) {
        last = one.started;
      }
    }
    return new ContainerStarts(failure, all && last.isAfter(Instant.MIN) ? last : null);
  }

  private static ContainerStarts container(JsonCursor in) {
    boolean ready = false;
    var name = "";
    var state = State.NONE;
    var before = State.NONE;
    int restarts = 0;
    for (var field : in.fields()) {
      switch (field) {
        case "name" -> name = in.text();
        case "ready" -> ready = Boolean.TRUE.equals(in.truth());
        case "restartCount" -> restarts = in.count(0);
        case "state" -> state = State.read(in);
        case "lastState" -> before = State.read(in);
      }
    }
    // A ready container has recovered from its last termination.
    return new ContainerStarts(ready
        ? null
        : FailureReason.ofContainer(name, state.waiting, state.message, before.end, restarts),
        instant(state.startedAt));
  }

  /**
   * The state of a container. A text that does not apply is empty.
   *
   * @param waiting the reason for which it waits
   */
  private record State(String waiting, String message, Termination end, String startedAt) {
    static final State NONE = new State("", "", Termination.NONE, "");

    static State read(JsonCursor in) {
      var waiting = "";
      var message = "";
      var reason = "";
      int exitCode = 0;
      var lastWords = "";
      var startedAt = "";
      for (var state : in.fields()) {
        for (var field : in.fields()) {
          switch (state + "." + field) {
            case "waiting.reason" -> waiting = in.text();
            case "waiting.message" -> message = in.text();
            case "terminated.reason" -> reason = in.text();
            case "terminated.exitCode" -> exitCode = in.count(0);
            case "terminated.message" -> lastWords = in.text();
            case "running.startedAt" -> startedAt = in.text();
          }
        }
      }
      return new State(waiting, message, new Termination(reason, exitCode, lastWords), startedAt);
    }
  }

  /** The parsed time; null if it is absent or malformed. */
  private static @Nullable Instant instant(String text) {
    try {
      return text.isEmpty() ? null : Instant.parse(text);
    } catch (DateTimeException e) {
      return null;
    }
  }

  private void conditions(JsonCursor in) {
    for (var _ : in.items()) {
      var condition = StatusCondition.read(in);
      if (condition.isFalse(SCHEDULED) && ofScheduling == null) {
        ofScheduling = FailureReason.unschedulable(condition.reason(), condition.message());
      }
      notPrepared |= condition.isFalse(PREPARED);
      var phase = CONDITIONS.get(condition.type());
      if (phase != null && condition.status().equals("True")) {
        ended(phase, instant(condition.lastTransitionTime()));
      }
    }
  }

  private void ended(StartPhase phase, @Nullable Instant at) {
    if (at != null) {
      ends.put(phase, at);
    }
  }

  /** A pod that is terminating or has ended is irrelevant for starts. */
  @Override
  public @Nullable PodStartStatus decoded(DecodedMetadata metadata, JsonCursor in) {
    if (metadata.ends() || phase.equals("Failed") || phase.equals("Succeeded")) {
      return null;
    }
    ended(StartPhase.CREATE, instant(metadata.created()));
    if (notPrepared) {
      // A pod without init containers is called initialized from the start.
      ends.remove(StartPhase.INIT);
    }
    ended(StartPhase.CONTAINER, containers.started);
    return new PodStartStatus(metadata.name(), metadata.uid(), failure(), Map.copyOf(ends));
  }

  private @Nullable FailureReason failure() {
    if (initContainers.failure != null || containers.failure != null) {
      return initContainers.failure == null ? containers.failure : initContainers.failure;
    }
    return ofScheduling == null && notPrepared ? FailureReason.notPrepared() : ofScheduling;
  }
}
