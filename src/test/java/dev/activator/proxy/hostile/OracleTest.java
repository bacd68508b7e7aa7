package dev.activator.proxy.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.proxy.hostile.CallerScript.Leaving;
import dev.activator.proxy.hostile.CallerScript.Method;
import dev.activator.proxy.hostile.CallerScript.Reading;
import dev.activator.proxy.hostile.PodScript.Begin;
import dev.activator.proxy.hostile.PodScript.Cut;
import dev.activator.proxy.hostile.PodScript.Framing;
import dev.activator.proxy.hostile.Sequence.Plan;
import dev.activator.proxy.hostile.Sequence.Version;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OracleTest {
  private static CallerScript caller(Method method, int parts, boolean completes,
      boolean deadlineOver, boolean upgrades, Leaving leaving, Reading reading) {
    return new CallerScript(method, parts, 100, true, false, false, false, deadlineOver, upgrades,
        false, completes, leaving, 1, 0, reading, 0);
  }

  private static CallerScript request(Method method, int parts) {
    return caller(method, parts, true, false, false, Leaving.STAYS, Reading.ALWAYS);
  }

  /** A head and two pieces. */
  private static PodScript pod(Begin begin, Framing framing, Cut cut, int cutAfter, int code) {
    return new PodScript(begin, List.of(), 200, framing, 2, 100, false, false, false, false, cut,
        cutAfter, code, true, 0);
  }

  private static Sequence sequence(Version version, boolean oneConnection, int limit,
      Plan... plans) {
    return new Sequence(1, version, false, false, oneConnection, true, false, limit, 100, 1_000,
        true,
        65_535, List.of(plans));
  }

  private static Set<Outcome> alone(Version version, CallerScript caller, PodScript pod) {
    return Oracle.expected(sequence(version, false, 0, new Plan(caller, pod)), 0);
  }

  @ParameterizedTest(name = "{0} {1}, {2} bodies, {3} after {4} with {5}: {6}")
  @CsvSource(textBlock = """
      HTTP_1_1, GET, LENGTH, NONE, 0, 0, COMPLETE
      HTTP_1_1, GET, CONNECTION, ENDS_OUTPUT, 2, 0, COMPLETE
      HTTP_1_1, GET, CONNECTION, CLOSES, 2, 0, COMPLETE
      HTTP_1_1, GET, CONNECTION, RESETS, 2, 0, BROKEN_OFF UNANSWERED
      HTTP_1_0, GET, CONNECTION, RESETS, 2, 0, BROKEN_OFF UNANSWERED
      HTTP_1_1, GET, CONNECTION, RESETS, 4, 0, COMPLETE
      HTTP_1_1, GET, LENGTH, ENDS_OUTPUT, 2, 0, BROKEN_OFF UNANSWERED
      HTTP_1_1, GET, LENGTH, RESETS, 3, 0, COMPLETE
      HTTP_1_1, GET, STREAM, RESETS, 3, 0, BROKEN_OFF UNANSWERED
      HTTP_1_1, GET, STREAM, FALLS_SILENT, 2, 0, BROKEN_OFF UNANSWERED
      HTTP_1_1, GET, STREAM, FALLS_SILENT, 0, 0, REFUSED
      HTTP_1_1, POST, LENGTH, ENDS_OUTPUT, 0, 0, REFUSED
      HTTP_1_1, GET, LENGTH, ENDS_OUTPUT, 0, 0, REFUSED COMPLETE
      HTTP_1_1, POST, LENGTH, RESETS_AT_ONCE, 2, 0, BROKEN_OFF UNANSWERED REFUSED
      HTTP_1_1, GET, LENGTH, RESETS_AT_ONCE, 2, 0, BROKEN_OFF UNANSWERED REFUSED COMPLETE
      HTTP_1_1, HEAD, STREAM, RESETS, 1, 0, COMPLETE
      HTTP_2, POST, LENGTH, RESETS_STREAM, 0, 7, REFUSED COMPLETE
      HTTP_2, POST, LENGTH, RESETS_STREAM, 0, 2, REFUSED
      HTTP_2, GET, LENGTH, RESETS_STREAM, 0, 2, REFUSED
      HTTP_2, GET, LENGTH, RESETS_STREAM, 2, 7, BROKEN_OFF
      HTTP_2, GET, LENGTH, RESETS_STREAM, 3, 0, BROKEN_OFF
      HTTP_2, GET, LENGTH, RESETS_STREAM, 4, 0, COMPLETE
      HTTP_2, POST, STREAM, GOES_AWAY, 0, 0, COMPLETE
      HTTP_2, POST, STREAM, GOES_AWAY_BELOW, 0, 0, REFUSED COMPLETE
      HTTP_2, POST, STREAM, GOES_AWAY_BELOW, 2, 0, BROKEN_OFF
      """)
  void aCallerThatStaysSeesWhatThePodDoes(Version version, Method method, Framing framing, Cut cut,
      int cutAfter, int code, String expected) {
    assertThat(alone(version, request(method, 0), pod(Begin.AT_END, framing, cut, cutAfter, code)))
        .extracting(Outcome::name).containsExactlyInAnyOrder(expected.split(" "));
  }

  @ParameterizedTest
  @CsvSource(textBlock = """
      AT_HEAD, true, COMPLETE
      AT_BODY, true, COMPLETE
      AT_END, true, COMPLETE
      NEVER, true, REFUSED
      AT_HEAD, false, COMPLETE
      AT_BODY, false, COMPLETE
      AT_END, false, REFUSED
      """)
  void aBodyThatDoesNotEndIsAnsweredByPodsThatDoNotWaitForIt(Begin begin, boolean completes,
      Outcome expected) {
    var caller = caller(Method.POST, 2, completes, false, false, Leaving.STAYS, Reading.ALWAYS);
    var answer = pod(begin, Framing.LENGTH, Cut.NONE, 0, 0);

    assertThat(alone(Version.HTTP_1_1, caller, answer)).containsExactly(expected);
    assertThat(alone(Version.HTTP_2, caller, answer)).containsExactly(expected);
  }

  @Test
  void aDeadlineThatIsOverMayRefuseAnyRequest() {
    var caller = caller(Method.GET, 0, true, true, false, Leaving.STAYS, Reading.ALWAYS);

    assertThat(alone(Version.HTTP_2, caller, PodScript.ok()))
        .containsExactlyInAnyOrder(Outcome.COMPLETE, Outcome.REFUSED);
  }

  @Test
  void aProtocolIsSwitched_whenRequested() {
    var asks = caller(Method.GET, 0, true, false, true, Leaving.STAYS, Reading.ALWAYS);
    var switches = new PodScript(Begin.AT_END, List.of(103), 200, Framing.STREAM, 1, 1, false,
        false, false, true, Cut.NONE, 0, 0, true, 0);

    assertThat(alone(Version.HTTP_1_1, asks, switches)).containsExactly(Outcome.COMPLETE);
    assertThat(alone(Version.HTTP_1_1, CallerScript.get(), switches))
        .containsExactly(Outcome.REFUSED);
  }

  @Test
  void whoLeavesOrReadsNothingMaySeeAnything() {
    for (var leaving : List.of(Leaving.ENDS_OUTPUT, Leaving.CLOSES, Leaving.RESETS)) {
      assertThat(alone(Version.HTTP_1_1,
          caller(Method.GET, 0, true, false, false, leaving, Reading.ALWAYS), PodScript.ok()))
          .containsExactlyInAnyOrder(Outcome.values());
    }
    assertThat(alone(Version.HTTP_1_1,
        caller(Method.GET, 0, true, false, false, Leaving.STAYS, Reading.NEVER), PodScript.ok()))
        .containsExactlyInAnyOrder(Outcome.values());
  }

  @Test
  void othersOnTheSameConnectionAreDisturbed_andOnlyThey() {
    var leaves = new Plan(
        caller(Method.GET, 0, true, false, false, Leaving.RESETS, Reading.ALWAYS), PodScript.ok());
    var stays = new Plan(CallerScript.get(), PodScript.ok());

    assertThat(Oracle.expected(sequence(Version.HTTP_2, true, 0, leaves, stays), 1))
        .containsExactlyInAnyOrder(Outcome.values());
    assertThat(Oracle.expected(sequence(Version.HTTP_2, false, 0, leaves, stays), 1))
        .containsExactly(Outcome.COMPLETE);
  }

  @Test
  void othersWaitForThePermitOfARequestThatIsNotAnswered() {
    var silent = new Plan(CallerScript.get(), pod(Begin.NEVER, Framing.LENGTH, Cut.NONE, 0, 0));
    var quick = new Plan(CallerScript.get(), PodScript.ok());

    assertThat(Oracle.expected(sequence(Version.HTTP_1_1, false, 1, silent, quick), 1))
        .containsExactlyInAnyOrder(Outcome.COMPLETE, Outcome.REFUSED);
    assertThat(Oracle.expected(sequence(Version.HTTP_1_1, false, 0, silent, quick), 1))
        .containsExactly(Outcome.COMPLETE);
  }
}
