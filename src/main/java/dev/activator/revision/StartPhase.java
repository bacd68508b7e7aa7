package dev.activator.revision;

import java.util.Locale;

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
