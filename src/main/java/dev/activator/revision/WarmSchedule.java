package dev.activator.revision;

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
 * The times at which a workload has more than its usual minimum.
 *
 * <p>Local time decides: what a change to summer time leaves out does not happen, and what a change
 * back repeats happens twice.
 *
 * @param zone of the windows' times
 */
public record WarmSchedule(ZoneId zone, List<Window> windows) {
  public WarmSchedule {
    windows = List.copyOf(windows);
  }

  /**
   * From {@code start} until before {@code end}; over midnight if that is not later. The same time twice
   * means 24 hours.
   *
   * @param days on which it begins
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

  /** Of the windows at this time, the one with the most replicas; null outside of all. */
  public @Nullable Window at(Instant now) {
    var local = LocalDateTime.ofInstant(now, zone);
    return windows.stream().filter(window -> window.contains(local))
        .max(Comparator.comparingInt(Window::minReplicas)).orElse(null);
  }
}
