package dev.activator.standalone.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.standalone.decode.KeepWarmSettingsReader;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WarmScheduleTest {
  private static Map<String, Object> window(String start, String end, int replicas,
      String... days) {
    return days.length == 0
        ? Map.of("start", start, "end", end, "minReplicas", replicas)
        : Map.of("start", start, "end", end, "minReplicas", replicas, "days", List.of(days));
  }

  @SafeVarargs
  private static KeepWarmSettings read(String zone, Map<String, Object>... windows) {
    return KeepWarmSettingsReader.read(
        Map.of("schedule", Map.of("timeZone", zone, "windows", List.of(windows))));
  }

  private static int replicas(KeepWarmSettings times, String instant) {
    var window = times.schedule().at(Instant.parse(instant));
    return window == null ? 0 : window.minReplicas();
  }

  @ParameterizedTest
  @CsvSource({"2026-11-23T06:59:59Z, 0", "2026-11-23T07:00:00Z, 2", "2026-11-23T16:59:59Z, 2",
      "2026-11-23T17:00:00Z, 0", "2026-11-28T10:00:00Z, 0"})
  void isOpenInLocalTime(String instant, int replicas) {
    var times = read("Europe/Berlin",
        window("08:00", "18:00", 2, "Mon", "Tue", "Wed", "Thu", "Fri"));

    assertThat(replicas(times, instant)).isEqualTo(replicas);
  }

  @ParameterizedTest
  @CsvSource({"2026-11-27T21:59:00Z, 0", "2026-11-27T22:00:00Z, 1", "2026-11-28T01:59:00Z, 1",
      "2026-11-28T02:00:00Z, 0", "2026-11-28T23:00:00Z, 0", "2026-11-27T01:00:00Z, 0"})
  void overMidnightItBelongsToTheDayOnWhichItBegins(String instant, int replicas) {
    assertThat(replicas(read("UTC", window("22:00", "02:00", 1, "Fri")), instant))
        .isEqualTo(replicas);
  }

  @ParameterizedTest
  @CsvSource({"2026-11-26T23:59:00Z, 0", "2026-11-27T00:00:00Z, 1", "2026-11-27T23:59:00Z, 1",
      "2026-11-28T00:00:00Z, 0"})
  void theSameTimeTwiceMeansAWholeDay(String instant, int replicas) {
    assertThat(replicas(read("UTC", window("00:00", "00:00", 1, "Fri")), instant))
        .isEqualTo(replicas);
  }

  /** On 29 March 2026 in Berlin, 01:00 UTC is 03:00 after 01:59. */
  @ParameterizedTest
  @CsvSource({"02:30, 05:00, 2026-03-29T00:59:59Z, 0", "02:30, 05:00, 2026-03-29T01:00:00Z, 1",
      "02:30, 05:00, 2026-03-29T03:00:00Z, 0", "02:10, 02:50, 2026-03-29T00:59:59Z, 0",
      "02:10, 02:50, 2026-03-29T01:00:00Z, 0", "01:30, 02:30, 2026-03-29T00:59:59Z, 1",
      "01:30, 02:30, 2026-03-29T01:00:00Z, 0"})
  void timesThatSummerTimeLeavesOutDoNotHappen(String start, String end, String instant,
      int replicas) {
    assertThat(replicas(read("Europe/Berlin", window(start, end, 1)), instant)).isEqualTo(replicas);
  }

  /** On 25 October 2026 in Berlin, the hour from 02:00 passes at 00:00 and at 01:00 UTC. */
  @ParameterizedTest
  @CsvSource({"2026-10-24T23:59:00Z, 0", "2026-10-25T00:00:00Z, 0", "2026-10-25T00:15:00Z, 1",
      "2026-10-25T00:45:00Z, 0", "2026-10-25T01:15:00Z, 1", "2026-10-25T01:45:00Z, 0"})
  void timesThatAreRepeatedHappenTwice(String instant, int replicas) {
    assertThat(replicas(read("Europe/Berlin", window("02:15", "02:45", 1)), instant))
        .isEqualTo(replicas);
  }

  @ParameterizedTest
  @CsvSource({"2026-11-23T07:30:00Z, 1", "2026-11-23T09:30:00Z, 5", "2026-11-23T11:30:00Z, 3",
      "2026-11-23T13:30:00Z, 0"})
  void ofSeveralWindowsTheOneWithTheMostReplicasCounts(String instant, int replicas) {
    var times = read("UTC", window("07:00", "12:00", 1), window("09:00", "11:00", 5),
        window("09:00", "13:00", 3));

    assertThat(replicas(times, instant)).isEqualTo(replicas);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "Europe/Berln | 08:00 | 18:00 | 1 | Mon | spec.schedule.timeZone must be a time zone such as Europe/Berlin, not \"Europe/Berln\"",
      "UTC | 8:00 | 18:00 | 1 | Mon | spec.schedule.windows[0].start must be a time from \"00:00\" to \"23:59\", not \"8:00\"",
      "UTC | 08:00 | 24:00 | 1 | Mon | spec.schedule.windows[0].end must be a time from \"00:00\" to \"23:59\", not \"24:00\"",
      "UTC | 08:00 | 18:00 | 0 | Mon | spec.schedule.windows[0].minReplicas must be a whole number from 1 to 10000, not 0",
      "UTC | 08:00 | 18:00 | 1 | mon | spec.schedule.windows[0].days[0] must be one of Mon, Tue, Wed, Thu, Fri, Sat, Sun, not \"mon\""})
  void aMalformedOneIsIgnoredAndSaysWhatAndWhere(String zone, String start, String end,
      int replicas, String day, String problem) {
    var times = read(zone, window(start, end, replicas, day));

    assertThat(times.schedule()).isNull();
    assertThat(times.problems()).containsExactly(problem);
  }

  @Test
  void showsDaysAndTimes() {
    var times = read("UTC", window("08:00", "18:00", 1, "Tue", "Mon"), window("20:00", "22:00", 1));

    assertThat(times.schedule().windows()).map(WarmSchedule.Window::toString)
        .containsExactly("Mon,Tue 08:00 to 18:00", "daily 20:00 to 22:00");
  }
}
