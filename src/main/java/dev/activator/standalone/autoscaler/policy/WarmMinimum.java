package dev.activator.standalone.autoscaler.policy;

import dev.activator.revision.ScalingView.KeepWarmEffect;
import dev.activator.standalone.policy.KeepWarmSettings;
import dev.activator.standalone.policy.WarmSchedule;
import java.time.Duration;
import java.time.Instant;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The minimum of a workload's replicas at each time: that of its settings, that of the open window
 * of its schedule, or one pod while the history of idle times expects a request.
 *
 * <p><b>Threads.</b> Confined to the autoscaler's loop.
 *
 * <p><b>Units.</b> Nanoseconds of the autoscaler's clock; schedules have the clock on the wall.
 */
public final class WarmMinimum {
  private ScalingSettings configured;
  private KeepWarmSettings warmTimes;
  /** The window of the schedule that is open now; null if none is. */
  private WarmSchedule.@Nullable Window scheduled;
  /** The history of idle times; null if pods are not kept by it, and it is not observed either. */
  private @Nullable IdleHistory history;
  /** When the last request arrived, waited or ran; empty before the first one of this term. */
  private OptionalLong lastDemand = OptionalLong.empty();
  private ScalingSettings settings;

  public WarmMinimum(ScalingSettings configured, KeepWarmSettings warmTimes, long now,
      Instant wall) {
    this.configured = configured;
    this.warmTimes = warmTimes;
    this.settings = configured;
    updateHistory(null);
    update(now, wall);
  }

  /** Sets the settings, which {@link #settings} has after the next {@link #update}. */
  public void updateSettings(ScalingSettings next, KeepWarmSettings nextWarmTimes) {
    var before = warmTimes.keepWarm();
    configured = next;
    warmTimes = nextWarmTimes;
    updateHistory(before);
  }

  /** Updates the history. A history with another maximum is dropped. */
  private void updateHistory(KeepWarmSettings.@Nullable KeepWarm before) {
    var keepWarm = warmTimes.keepWarm();
    if (keepWarm == null) {
      history = null;
    } else if (before == null || !before.max().equals(keepWarm.max())) {
      history = new IdleHistory(keepWarm.max());
    }
  }

  /** Updates the minimum. Returns whether that of the schedule has risen. */
  public boolean update(long now, Instant wall) {
    int before = scheduledReplicas();
    var schedule = warmTimes.schedule();
    scheduled = schedule == null ? null : schedule.at(wall);
    int min = Math.max(scheduledReplicas(), isKeptWarm(now) ? 1 : 0);
    settings = min == 0 ? configured : configured.withMin(min);
    return scheduledReplicas() > before;
  }

  private int scheduledReplicas() {
    return scheduled == null ? 0 : scheduled.minReplicas();
  }

  private boolean isKeptWarm(long now) {
    var keepWarm = warmTimes.keepWarm();
    var range = history == null ? null : history.range();
    return range != null && keepWarm != null && !keepWarm.observeOnly() && lastDemand.isPresent()
        && range.contains(Duration.ofNanos(now - lastDemand.getAsLong()));
  }

  /** Records that a request arrived, waited or ran. */
  public void onDemand(long now) {
    if (history != null && lastDemand.isPresent()) {
      history.ended(Duration.ofNanos(now - lastDemand.getAsLong()), configured.windows().stable());
    }
    lastDemand = OptionalLong.of(now);
  }

  /** The settings, with the minimum as of the last {@link #update}. */
  public ScalingSettings settings() {
    return settings;
  }

  /** The bound that limits a decision, for an explanation. */
  public String boundText() {
    if (settings.bounds().min() == configured.bounds().min()) {
      return " within its bounds; ";
    }
    return scheduled != null
        ? ", the minimum of its schedule (" + scheduled + "); "
        : ", kept warm because earlier requests came after a similar idle time; ";
  }

  /** The history; null if it is switched off. */
  public @Nullable KeepWarmEffect history() {
    var keepWarm = warmTimes.keepWarm();
    return history == null ? null : history.view(keepWarm != null && keepWarm.observeOnly());
  }
}
