package dev.activator.standalone.decode;

import dev.activator.config.ConfigValue;
import dev.activator.standalone.policy.WarmSchedule;
import dev.activator.standalone.policy.KeepWarmSettings;
import java.time.DateTimeException;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.TextStyle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The reader of {@link KeepWarmSettings}, from fields of a ScaledService.
 *
 * <p><b>Errors.</b> An invalid field is ignored as a whole, and is listed in the problems of the
 * result.
 */
public final class KeepWarmSettingsReader {
  private static final Set<String> FIELDS = Set.of("schedule", "keepWarm");
  private static final int MIN_KEPT_SECONDS = 60;
  private static final int MAX_KEPT_SECONDS = 14_400;
  private static final int MAX_WINDOWS = 32;
  private static final int MAX_REPLICAS = 10_000;
  private static final int MAX_LENGTH = 64;
  private static final Pattern TIME = Pattern.compile("([01][0-9]|2[0-3]):[0-5][0-9]");
  private static final Map<String, DayOfWeek> DAYS = Arrays.stream(DayOfWeek.values()).collect(
      Collectors.toMap(day -> day.getDisplayName(TextStyle.SHORT, Locale.ENGLISH),
          Function.identity()));

  private KeepWarmSettingsReader() {}

  /** Whether this class reads a field of a ScaledService. */
  public static boolean reads(String field) {
    return FIELDS.contains(field);
  }

  public static KeepWarmSettings read(Map<String, Object> spec) {
    if (spec.isEmpty()) {
      return KeepWarmSettings.NONE;
    }
    var problems = new ArrayList<String>();
    var schedule = read(spec.get("schedule"), KeepWarmSettingsReader::schedule, problems);
    var keepWarm = read(spec.get("keepWarm"), KeepWarmSettingsReader::keepWarm, problems);
    return new KeepWarmSettings(schedule, keepWarm, problems);
  }

  private static <T> @Nullable T read(@Nullable Object value, Function<Object, @Nullable T> read,
      List<String> problems) {
    try {
      return value == null ? null : read.apply(value);
    } catch (IllegalArgumentException e) {
      problems.add(String.valueOf(e.getMessage()));
      return null;
    }
  }

  private static KeepWarmSettings.@Nullable KeepWarm keepWarm(Object value) {
    var keepWarm = new ConfigValue("spec.keepWarm", value).object("mode", "maxSeconds");
    var mode = keepWarm.field("mode").text(MAX_LENGTH);
    var max = Duration.ofSeconds(
        keepWarm.field("maxSeconds").number(MIN_KEPT_SECONDS, MAX_KEPT_SECONDS, 3_600));
    return switch (mode == null ? "" : mode) {
      case "off" -> null;
      case "observe" -> new KeepWarmSettings.KeepWarm(true, max);
      case "on" -> new KeepWarmSettings.KeepWarm(false, max);
      default -> throw keepWarm.field("mode").mustBe("off, observe or on");
    };
  }

  private static WarmSchedule schedule(Object value) {
    var schedule = new ConfigValue("spec.schedule", value).object("timeZone", "windows");
    var windows = schedule.field("windows").items(MAX_WINDOWS);
    if (windows.isEmpty()) {
      throw schedule.field("windows").mustBe("a list of at least one");
    }
    return new WarmSchedule(zone(schedule.field("timeZone")),
        windows.stream().map(KeepWarmSettingsReader::window).toList());
  }

  private static ZoneId zone(ConfigValue zone) {
    var name = zone.text(MAX_LENGTH);
    try {
      return name == null ? ZoneOffset.UTC : ZoneId.of(name);
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          zone.mustBe("a time zone such as Europe/Berlin").getMessage(), e);
    }
  }

  private static WarmSchedule.Window window(ConfigValue window) {
    window.object("days", "start", "end", "minReplicas");
    return new WarmSchedule.Window(days(window.field("days")), time(window.field("start")),
        time(window.field("end")), window.field("minReplicas").number(1, MAX_REPLICAS, 1));
  }

  private static Set<DayOfWeek> days(ConfigValue days) {
    if (days.isAbsent()) {
      return EnumSet.allOf(DayOfWeek.class);
    }
    var all = EnumSet.noneOf(DayOfWeek.class);
    for (var one : days.items(DAYS.size())) {
      var day = DAYS.get(String.valueOf(one.value()));
      if (day == null) {
        throw one.mustBe("one of Mon, Tue, Wed, Thu, Fri, Sat, Sun");
      }
      all.add(day);
    }
    if (all.isEmpty()) {
      throw days.mustBe("a list of at least one day");
    }
    return all;
  }

  private static LocalTime time(ConfigValue time) {
    var text = time.text(MAX_LENGTH);
    if (text == null || !TIME.matcher(text).matches()) {
      throw time.mustBe("a time from \"00:00\" to \"23:59\"");
    }
    return LocalTime.parse(text);
  }
}
