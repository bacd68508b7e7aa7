package dev.activator.revision;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Locale;

/**
 * The progress of a revision's start: the phases that its most advanced pod has completed.
 *
 * <p><b>Units.</b> Times have a resolution of a second, rounded down.
 *
 * @param pod the pod's name; empty while there is no pod
 * @param ends when each phase ended; a phase that has not ended has no entry
 * @param reason one word for why the pod does not progress; empty if it does
 * @param node how long pods usually wait for a node like the one that is added for this revision;
 *     zero if none is
 */
public record RevisionStartProgress(RevisionId revision, String pod, Map<StartPhase, Instant> ends,
    String reason, String message, Duration node) {
  public RevisionStartProgress {
    ends = Map.copyOf(ends);
  }

  /** Whether the scheduler has found no node for the pod. */
  public boolean isUnscheduled() {
    return !reason.isEmpty() && ends.containsKey(StartPhase.CREATE)
        && !ends.containsKey(StartPhase.SCHEDULE);
  }

  /** Whether all containers of the pod run. */
  public boolean isRunning() {
    return ends.containsKey(StartPhase.CONTAINER);
  }

  public static RevisionStartProgress none(RevisionId revision) {
    return new RevisionStartProgress(revision, "", Map.of(), "", "", Duration.ZERO);
  }

  /** The phases of a start from zero, in order. Each phase waits for one event and ends with it. */
  public enum StartPhase {
    SCALE("the write of its scale", "scale written"),
    CREATE("the creation of a pod", "pod created"),
    SCHEDULE("a node", "pod scheduled"),
    PREPARE("its volumes and network", "pod prepared"),
    INIT("its init containers", "init containers ended"),
    CONTAINER("its images and containers", "containers started"),
    /** The wait until Endpoints list the address of a pod whose containers run. */
    LIST("its address in Endpoints", "pod listed"),
    /**
     * The wait until a pod is listed, if it is unknown when its containers started. It replaces
     * {@code LIST} and the earlier phases of the pod.
     */
    POD("a listed pod", "pod listed"),
    LISTEN("a listener on its port", "pod accepted a connection"),
    ANSWER("its answer to a probe", "pod answered a probe");

    private final String text = name().toLowerCase(Locale.ROOT);
    private final String awaited;
    private final String end;

    StartPhase(String awaited, String end) {
      this.awaited = awaited;
      this.end = end;
    }

    /** The event that this phase waits for. */
    public String awaited() {
      return awaited;
    }

    /** The event at the end of this phase, in the past tense. */
    public String end() {
      return end;
    }

    /** Whether the status of a pod shows when this phase ended. */
    public boolean isOfPod() {
      return this != SCALE && compareTo(LIST) < 0;
    }

    @Override
    public String toString() {
      return text;
    }
  }
}
