package dev.activator.ext.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.activator.ext.console.Alerts.Alert;
import dev.activator.ext.console.Alerts.Condition;
import dev.activator.ext.console.Alerts.Inputs;
import dev.activator.ext.console.Alerts.Load;
import dev.activator.ext.console.Alerts.Rule;
import dev.activator.ext.console.RevisionHourHistory.Kind;
import dev.activator.ext.console.RevisionHourHistory.LastHour;
import dev.activator.ext.console.WaitingOverview.ApiState;
import dev.activator.ext.console.WaitingOverview.LeaderReport;
import dev.activator.observability.RequestOutcome;
import dev.activator.revision.RevisionId;
import dev.activator.testing.VirtualLoop;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class AlertsTest {
  private static final RevisionId WEB = new RevisionId("shop", "web-00001");
  private static final ApiState WATCHES = new ApiState(true,
      List.of(new ApiState.Watched("revisions", true, false, 0, null)));

  private static Inputs inputs(@Nullable String link, @Nullable LeaderReport leader,
      double saturation, List<Load> revisions, Map<RequestOutcome, Integer> rejects,
      Map<String, Integer> unscalable) {
    return new Inputs(link, leader, WATCHES, saturation, revisions, rejects, unscalable);
  }

  private static Inputs of(Load revision) {
    return inputs(null, null, 0, List.of(revision), Map.of(), Map.of());
  }

  private static Load load(int inFlight, int queued, int requests, int errors) {
    var some = new int[RevisionHourHistory.MINUTES];
    some[58] = requests;
    var failed = new int[RevisionHourHistory.MINUTES];
    failed[57] = errors;
    return new Load(WEB, inFlight, queued,
        new LastHour(Map.of(Kind.REQUESTS, some, Kind.ERRORS, failed), "", null, List.of()));
  }

  static Stream<Arguments> rules() {
    var nobody = new LeaderReport(null, false, 1, 20, "forbidden");
    return Stream.of(
        Arguments.of("all is well",
            inputs(null, new LeaderReport("a", false, 1, 2, null), 0.9, List.of(load(1, 5, 31, 1)),
                Map.of(RequestOutcome.CALLER_GONE, 999, RequestOutcome.QUEUE_FULL, 30), Map.of()),
            List.of()),
        Arguments.of("no link", inputs("refused", null, 0, List.of(), Map.of(), Map.of()),
            List.of(Rule.WITHOUT_AUTOSCALER)),
        Arguments.of("no leader", inputs(null, nobody, 0, List.of(), Map.of(), Map.of()),
            List.of(Rule.WITHOUT_LEADER)),
        Arguments.of("requests wait and none runs", of(load(0, 1, 0, 0)),
            List.of(Rule.REQUESTS_HELD)),
        Arguments.of("6 % of 100 fail", of(load(0, 0, 100, 6)), List.of(Rule.ERRORS)),
        Arguments.of("5 % of 100 fail", of(load(0, 0, 100, 5)), List.of()),
        Arguments.of("few requests, all fail", of(load(0, 0, 30, 30)), List.of()),
        Arguments.of("refusals",
            inputs(null, null, 0, List.of(), Map.of(RequestOutcome.QUEUE_FULL, 31), Map.of()),
            List.of(Rule.REJECTS)),
        Arguments.of("scales are refused",
            inputs(null, null, 0, List.of(), Map.of(), Map.of("Forbidden", 2)),
            List.of(Rule.SCALE_WRITES_FAIL)),
        Arguments.of("saturated", inputs(null, null, 0.91, List.of(), Map.of(), Map.of()),
            List.of(Rule.SATURATED)),
        Arguments.of("no watch",
            new Inputs(null, null,
                new ApiState(true, List.of(new ApiState.Watched("pods", false, true, 61, null))), 0,
                List.of(), Map.of(), Map.of()),
            List.of(Rule.WITHOUT_NEWS)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("rules")
  void knowWhatIsWrong(String name, Inputs inputs, List<Rule> expected) {
    assertThat(Alerts.conditions(inputs)).as(name).extracting(Condition::rule)
        .containsExactlyElementsOf(expected);
  }

  @Test
  void saysWithoutKnativeThatTheActivatorThatScalesCannotBeReached() {
    var leader = new LeaderReport("a", false, 1, 2, null);

    assertThat(Alerts.conditions(inputs("refused", leader, 0, List.of(), Map.of(), Map.of())))
        .extracting(Alerts.Condition::text)
        .containsExactly("This activator cannot reach the activator that scales: refused");
    assertThat(Alerts.conditions(inputs("refused", null, 0, List.of(), Map.of(), Map.of())))
        .extracting(Alerts.Condition::text)
        .containsExactly("This activator cannot reach the autoscaler: refused");
  }

  @Test
  void fireOnlyAfterTheirTime_andEndAtOnce() {
    var loop = new VirtualLoop();
    var alerts = new Alerts(loop::nanoTime);
    var held = new Condition(Rule.REQUESTS_HELD, "shop/web", "they wait");
    var link = new Condition(Rule.WITHOUT_AUTOSCALER, "", "no link");
    alerts.now(List.of(held));
    loop.advance(Duration.ofSeconds(90));
    alerts.now(List.of(held, link));

    assertThat(alerts.all()).extracting(Alert::name, Alert::firesIn).containsExactly(
        tuple("ActivatorWithoutAutoscaler", Duration.ofMinutes(2)),
        tuple("ActivatorRequestsHeld", Duration.ofSeconds(30)));
    loop.advance(Duration.ofSeconds(31));
    assertThat(alerts.all()).extracting(Alert::name).containsExactly("ActivatorRequestsHeld",
        "ActivatorWithoutAutoscaler");
    alerts.now(List.of());
    assertThat(alerts.all()).isEmpty();
  }

  @Test
  void areThoseOfTheChart_withItsThresholds() throws Exception {
    var chart = Files.readString(Path.of("helm/activator/templates/alerts.yaml"));
    var values = Files.readString(Path.of("helm/activator/values.yaml"));

    for (var rule : Rule.values()) {
      var found = Pattern.compile("- alert: " + rule.alert() + "\n(?:.*\n)*?          for: (.*)\n")
          .matcher(chart);
      assertThat(found.find()).as(rule.alert()).isTrue();
      var wait = found.group(1).contains("heldFor") ? "2m" : found.group(1);
      assertThat(wait).as(rule.alert()).isEqualTo(rule.after().toMinutes() + "m");
    }
    assertThat(values).contains("heldFor: 2m", "errorRatio: " + Alerts.ERROR_RATIO,
        "errorMinRequestsPerSecond: " + Alerts.REQUESTS_PER_SECOND,
        "rejectsPerSecond: " + Alerts.REJECTS_PER_SECOND, "saturation: " + Alerts.SATURATION);
  }
}
