package dev.activator.embedded.runtime.policy;

import java.time.Duration;

/** What must be done for a pod. */
public sealed interface PodEffect {
  /** Its address, or whether it is ready, changed: say so. */
  record Publish() implements PodEffect {}

  /** Have its sidecar listen. */
  record Listen() implements PodEffect {}

  /** Have it try that again, then. */
  record ListenAfter(Duration pause) implements PodEffect {}

  /** Start its process, the next run. */
  record StartProcess(int run) implements PodEffect {}

  /** Ask the sidecar whether the process takes requests. */
  record Check(int run) implements PodEffect {}

  /** Remember that it has been ready for a while, then. */
  record SettleAfter(int run, Duration pause) implements PodEffect {}

  /** The process failed, or nobody can reach it: say so in the revision's status. */
  record ReportFailure(Exit exit) implements PodEffect {}

  /** The process works: say so in the revision's status. */
  record ReportReady() implements PodEffect {}

  /** Start it again, then. */
  record RestartAfter(int run, Duration pause) implements PodEffect {}

  /** Let the sidecar finish what it has. */
  record Drain() implements PodEffect {}

  record StopProcess() implements PodEffect {}

  /** Nothing is left to be done but to close the sidecar and forget the pod. */
  record Remove() implements PodEffect {}
}
