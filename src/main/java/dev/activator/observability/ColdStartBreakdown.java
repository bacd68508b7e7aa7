package dev.activator.observability;

import dev.activator.revision.StartPhase;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * A start from zero, split by what the autoscaler, the status of pods and our probes say of it.
 *
 * <p><b>Units.</b> Nanoseconds from an origin that the caller chooses, such as a request's arrival.
 *
 * @param ends of phases; without those that go on, and those that are not known
 * @param podsRead whether the status of pods is read
 */
public record ColdStartBreakdown(Map<StartPhase, Long> ends, boolean podsRead) {
  /** Of the times in the status of pods, which are rounded down. */
  private static final Duration RESOLUTION = Duration.ofSeconds(1);
  /** Of an older time it does not matter how old it is. */
  private static final Duration MAX_AGE = Duration.ofDays(1);

  public ColdStartBreakdown {
    ends = Collections.unmodifiableMap(new TreeMap<>(ends));
  }

  /**
   * On the clock of {@code nowNanos}. Of a time in whole seconds, the middle of the second, or of the part of it
   * that is over.
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
   * How long each phase lasted, in order, within these limits: together as long as from one to the other. One
   * whose end is not known counts as part of the next.
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

  /** By what is known exactly: a pod that is listed has an address, and one that accepts connections runs. */
  private long bounded(StartPhase phase, long end) {
    if (!phase.isOfPod()) {
      return end;
    }
    var later = ends
        .get(phase.compareTo(StartPhase.INIT) < 0 ? StartPhase.LIST : StartPhase.LISTEN);
    return later == null ? end : Math.min(end, later);
  }

  /** The address of a pod may be listed while its images are pulled. */
  private boolean isLate(StartPhase phase) {
    return phase == StartPhase.LIST && current().isOfPod();
  }

  private boolean isLump(StartPhase phase) {
    return phase == StartPhase.LIST && !has(StartPhase.CONTAINER);
  }

  private boolean has(StartPhase phase) {
    return ends.containsKey(phase);
  }

  /** The phase that goes on; the last one if all are over. */
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
