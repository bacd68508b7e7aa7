package dev.activator.revision;

import java.util.Locale;

/** The phases of a start from zero, in order; each ends when what it waits for has happened. */
public enum StartPhase {
  SCALE("the write of its scale", "scale written"),
  CREATE("the creation of a pod", "pod created"),
  SCHEDULE("a node", "pod scheduled"),
  PREPARE("its volumes and network", "pod prepared"),
  INIT("its init containers", "init containers ended"),
  CONTAINER("its images and containers", "containers started"),
  /** Until Endpoints have the address of a pod whose containers run. */
  LIST("its address in Endpoints", "pod listed"),
  /** The same for a pod of which no more is known; instead of those before. */
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

  /** What is awaited in this phase. */
  public String awaited() {
    return awaited;
  }

  /** What happened at its end. */
  public String end() {
    return end;
  }

  /** Whether the status of a pod says when it ended. */
  public boolean isOfPod() {
    return this != SCALE && compareTo(LIST) < 0;
  }

  @Override
  public String toString() {
    return text;
  }
}
