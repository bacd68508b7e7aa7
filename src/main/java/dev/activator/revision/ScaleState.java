package dev.activator.revision;

import java.util.Locale;

/** Whether a workload runs, in one word: the column {@code STATE} of its ScaledService. */
public enum ScaleState {
  /** It has a ready pod. */
  RUNNING,
  /** It has replicas, or should have some, and no pod is ready. */
  WAKING,
  /** It should have replicas, and waits until another workload has stopped. */
  WAITING,
  /** It has no replicas, and the last pods are ending. */
  STOPPING,
  /** It has neither replicas nor pods, and needs none. */
  ZERO;

  /**
   * @param replicas the replicas in the workload's spec
   * @param desired the replicas that the autoscaler wants
   * @param pods the number of pods, ready, starting or ending
   */
  public static ScaleState of(int replicas, int desired, int ready, int pods) {
    if (replicas > 0) {
      return ready > 0 ? RUNNING : WAKING;
    }
    if (desired > 0) {
      return WAKING;
    }
    return pods > 0 ? STOPPING : ZERO;
  }

  /** As it is shown. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
