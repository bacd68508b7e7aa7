package dev.activator.platform;

import dev.activator.kube.LeadershipStatus;
import dev.activator.platform.RevisionDetailsSource.Setting;
import dev.activator.revision.ScaleTarget;
import dev.activator.revision.ScalingView;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Details of a mode's own object that stands behind a revision, such as a ScaledService, and of the
 * workload that it scales.
 *
 * <p><b>Threads.</b> Any.
 */
public interface WorkloadDetails {
  /** The kind of the object. */
  String kind();

  ScaleTarget workload();

  /** False if it is known that requests start no pod, for example because of a quota. */
  boolean canStart();

  /** False if it takes connections over TCP only. */
  boolean takesRequests();

  /** The URL for browsers; null if there is none. */
  @Nullable String url();

  /** The maximum number of pods; null if unlimited. */
  @Nullable Integer maxPods();

  /**
   * A sentence for each problem.
   *
   * @param scaling null if another activator scales it
   */
  List<String> obstacles(@Nullable ScalingView scaling);

  /** The number of pods that the activator that scales it has decided; empty if there is none yet. */
  OptionalInt desiredReplicas();

  /**
   * How it is scaled, by the status that the activator that scales it has written.
   *
   * @param leader null if no leader is elected in this mode
   */
  ScalingReport report(@Nullable LeadershipStatus leader);

  /** Whether it runs, in one word of the status; empty if that is unknown. */
  String scaleState();

  List<Setting> conditions();

  List<Setting> settings();

  /** The command that prints the log of its pods. */
  String logCommand();
}
