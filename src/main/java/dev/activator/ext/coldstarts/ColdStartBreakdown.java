package dev.activator.ext.coldstarts;

import dev.activator.observability.ColdStarts.OngoingColdStart;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The phases of a start from zero, according to the autoscaler, the status of pods and our probes.
 *
 * <p><b>Units.</b> Nanoseconds from an origin that the caller chooses, such as a request's arrival.
 *
 * @param ends the ends of phases, without those that are in progress or unknown
 * @param podsRead whether the status of pods is read
 */
public record ColdStartBreakdown(Map<StartPhase, Long> ends, boolean podsRead) {
  /** The resolution of the times in the status of pods, which are rounded down. */
  private static final Duration RESOLUTION = Duration.ofSeconds(1);
  /** Older times count as this old. */
  private static final Duration MAX_AGE = Duration.ofDays(1);

  public ColdStartBreakdown {
    ends = Collections.unmodifiableMap(new TreeMap<>(ends));
  }

  /**
   * A reported time on the clock of {@code nowNanos}. A time in whole seconds stands for the middle
   * of that second, or of the part of it that has passed.
   */
  static long nanos(Instant reported, Instant now, long nowNanos) {
    long age = clamped(Duration.between(reported, now)).toNanos();
    long unsure = reported.getNano() == 0 ? Math.min(age, RESOLUTION.toNanos()) : 0;
    return nowNanos - age + unsure / 2;
  }

  private static Duration clamped(Duration age) {
    if (age.isNegative()) {
      return Duration.ZERO;
    }
    return age.compareTo(MAX_AGE) < 0 ? age : MAX_AGE;
  }

  /**
   * The duration of each phase between these limits, in order. The durations add up to the time
   * between the limits. A phase whose end is unknown counts as part of the next one.
   */
  public Map<StartPhase, Long> between(long from, long until) {
    var phases = new EnumMap<StartPhase, Long>(StartPhase.class);
    long before = from;
    for (var phase : StartPhase.values()) {
      var end = ends.get(phase);
      if (end != null && !isLate(phase)) {
        long now = Math.clamp(bounded(phase, end), before, until);
        phases.put(isLump(phase) ? StartPhase.POD : phase, now - before);
        before = now;
      }
    }
    if (before < until) {
      phases.merge(current(), until - before, Long::sum);
    }
    return Collections.unmodifiableMap(phases);
  }

  /**
   * The end of a phase, limited by later events that are known exactly: a listed pod has an
   * address, and a pod that accepts connections runs.
   */
  private long bounded(StartPhase phase, long end) {
    if (!phase.isOfPod()) {
      return end;
    }
    var later = ends
        .get(phase.compareTo(StartPhase.INIT) < 0 ? StartPhase.LIST : StartPhase.LISTEN);
    return later == null ? end : Math.min(end, later);
  }

  /**
   * Whether a phase is left out: a pod's address may be listed while its images are still pulled.
   */
  private boolean isLate(StartPhase phase) {
    return phase == StartPhase.LIST && current().isOfPod();
  }

  private boolean isLump(StartPhase phase) {
    return phase == StartPhase.LIST && !has(StartPhase.CONTAINER);
  }

  private boolean has(StartPhase phase) {
    return ends.containsKey(phase);
  }

  /**
   * The start that has these phases, whose times are before now, so they are negative.
   *
   * @param pod the name of the pod; empty if unknown
   * @param reason why the pod makes no progress, in one word; otherwise empty
   */
  public OngoingColdStart inProgress(String pod, String reason, String message) {
    return new InProgress(this, pod, reason, message);
  }

  private record InProgress(ColdStartBreakdown split, String pod, String reason, String message)
      implements OngoingColdStart {
    @Override
    public StartPhase current() {
      return split.current();
    }

    @Override
    public boolean podsRead() {
      return split.podsRead();
    }

    @Override
    public Map<StartPhase, Long> phases(Duration awaited) {
      return split.between(-awaited.toNanos(), 0);
    }
  }

  /** The phase in progress; the last one if all are over. */
  public StartPhase current() {
    if (has(StartPhase.LISTEN) || has(StartPhase.ANSWER)) {
      return StartPhase.ANSWER;
    }
    if (podsRead && !has(StartPhase.CONTAINER)) {
      var last = StartPhase.SCALE;
      for (var phase : StartPhase.values()) {
        last = phase.isOfPod() && has(phase) ? phase : last;
      }
      return StartPhase.values()[last.ordinal() + 1];
    }
    if (has(StartPhase.LIST)) {
      return StartPhase.LISTEN;
    }
    return has(StartPhase.CONTAINER) ? StartPhase.LIST : StartPhase.POD;
  }
}
