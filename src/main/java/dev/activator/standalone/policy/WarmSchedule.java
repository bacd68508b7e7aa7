package dev.activator.standalone.policy;

import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.TextStyle;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A schedule of time windows in which a workload has a higher minimum of replicas.
 *
 * <p>The windows are in local time. Times that are skipped when summer time begins do not occur,
 * and times that are repeated when it ends occur twice.
 *
 * @param zone the time zone of the windows
 */
public record WarmSchedule(ZoneId zone, List<Window> windows) {
  public WarmSchedule {
    windows = List.copyOf(windows);
  }

  /**
   * A window from {@code start}, inclusive, to {@code end}, exclusive. It ends on the next day if
   * {@code end} is not later than {@code start}. If both are equal, it lasts 24 hours.
   *
   * @param days the days on which the window begins
   */
  public record Window(Set<DayOfWeek> days, LocalTime start, LocalTime end, int minReplicas) {
    public Window {
      days = Set.copyOf(days);
    }

    private boolean contains(LocalDateTime local) {
      var day = local.getDayOfWeek();
      boolean begun = !local.toLocalTime().isBefore(start);
      boolean over = !local.toLocalTime().isBefore(end);
      return start.isBefore(end)
          ? days.contains(day) && begun && !over
          : days.contains(day) && begun || days.contains(day.minus(1)) && !over;
    }

    @Override
    public String toString() {
      return (days.size() == DayOfWeek.values().length
          ? "daily"
          : new TreeSet<>(days).stream()
              .map(day -> day.getDisplayName(TextStyle.SHORT, Locale.ENGLISH))
              .collect(Collectors.joining(",")))
          + " " + start + " to " + end;
    }
  }

  /** The window with the most replicas among those that contain this time; null if none does. */
  public @Nullable Window at(Instant now) {
    var local = LocalDateTime.ofInstant(now, zone);
    return windows.stream().filter(window -> window.contains(local))
        .max(Comparator.comparingInt(Window::minReplicas)).orElse(null);
  }
}
