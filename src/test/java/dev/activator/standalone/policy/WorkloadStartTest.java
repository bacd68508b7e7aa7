package dev.activator.standalone.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import dev.activator.standalone.policy.ResolvedScaledService.Trouble;
import dev.activator.standalone.policy.WorkloadStart.Event;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkloadStartTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");

  private WorkloadStart state = WorkloadStart.NONE;
  /** Close to the clock's overflow. */
  private long now = Long.MAX_VALUE - Duration.ofSeconds(10).toNanos();

  private void on(Event event) {
    state = state.on(event, now);
  }

  /** @param step an event, or a number of seconds; {@code a7} is pod a, whose containers started then */
  private void does(String step) {
    switch (step) {
      case "waking" -> on(new Event.Decided(true));
      case "ready" -> on(new Event.Decided(false));
      case "fails" -> on(new Event.Failed(new Trouble("Crashes", "")));
      case "mayStart" -> on(new Event.Failed(null));
      case "unscaled" -> on(new Event.Unscaled());
      case "forgotten" -> on(new Event.Forgotten());
      case "unwatched" -> on(new Event.Progressed(RevisionStartProgress.none(WEB)));
      case "pending" -> on(new Event.Progressed(progress("a", Map.of(StartPhase.CREATE, at(0)))));
      default -> {
        if (Character.isDigit(step.charAt(0))) {
          now += Duration.ofSeconds(Long.parseLong(step)).toNanos();
          on(new Event.TimePassed());
        } else {
          on(new Event.Progressed(progress(step.substring(0, 1), Map.of(StartPhase.CREATE, at(0),
              StartPhase.CONTAINER, at(Long.parseLong(step.substring(1)))))));
        }
      }
    }
  }

  private static Instant at(long second) {
    return Instant.ofEpochSecond(second);
  }

  private static RevisionStartProgress progress(String pod, Map<StartPhase, Instant> ends) {
    return new RevisionStartProgress(WEB, pod, ends, "", "", Duration.ZERO);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(textBlock = """
      waking a5 29                    , ''
      waking a5 30                    , PodsNotReady
      a5 30                           , ''
      a5 20 waking 29                 , ''
      a5 20 waking 30                 , PodsNotReady
      waking a5 20 waking 10          , PodsNotReady
      waking a5 20 a5 10              , PodsNotReady
      waking a5 20 a25 10             , ''
      waking a5 20 a25 30             , PodsNotReady
      waking a5 20 b5 10              , ''
      waking a5 20 pending 30         , ''
      waking a5 20 unwatched 10       , PodsNotReady
      waking a5 30 pending            , PodsNotReady
      waking a5 30 unwatched          , PodsNotReady
      waking a5 30 ready              , ''
      waking a5 30 ready waking 30    , ''
      waking a5 30 unscaled           , ''
      waking a5 30 forgotten          , ''
      waking a5 20 unscaled waking 30 , ''
      fails                           , Crashes
      fails mayStart                  , ''
      waking fails mayStart           , Crashes
      waking fails mayStart waking    , Crashes
      waking fails ready              , ''
      ready fails mayStart            , Crashes
      waking fails unscaled           , Crashes
      waking fails unscaled mayStart  , ''
      waking fails forgotten          , ''
      waking a5 fails 30              , Crashes
      waking a5 30 fails              , Crashes
      """)
  void saysWhyNoPodIsReady(String steps, String reason) {
    for (var step : steps.split(" ")) {
      does(step);
    }
    var trouble = state.trouble();
    assertThat(trouble == null ? "" : trouble.reason()).isEqualTo(reason);
  }

  @Test
  void saysWhenToLookAgain_whileContainersRun() {
    assertThat(state.nanosUntilUnready(now)).isZero();
    does("waking");
    does("a5");
    does("20");
    assertThat(state.nanosUntilUnready(now)).isEqualTo(Duration.ofSeconds(10).toNanos());
    does("10");
    assertThat(state.nanosUntilUnready(now)).isZero();
  }

  @Test
  void keepsThatNoNodeTakesThePods_untilOneDoesOrTheWatchEnds() {
    var waits = new RevisionStartProgress(WEB, "a", Map.of(StartPhase.CREATE, at(0)),
        "Unschedulable", "0/3 nodes", Duration.ZERO);
    on(new Event.Progressed(waits));
    does("ready");
    does("forgotten");
    assertThat(state.unscheduled()).isEqualTo(waits);

    does("unwatched");
    assertThat(state.unscheduled()).isNull();
  }
}
