package dev.activator.ext.podstarts.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.podstarts.policy.NodeEvent.Outlook;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeOutlookTest {
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

  @ParameterizedTest(name = "{0}: {1} is {2}")
  @CsvSource(nullValues = "nothing", delimiter = '|', value = {
      "TriggeredScaleUp  | pod triggered scale-up: [{pool-1 0->1 (max: 3)}]           | COMING",
      "Nominated         | Pod should schedule on: nodeclaim/default-x7k2p            | COMING",
      "NotTriggerScaleUp | pod didn't trigger scale-up: 1 max node group size reached | NONE",
      "FailedScheduling  | Failed to schedule pod, incompatible requirements          | NONE",
      "FailedScheduling  | 0/3 nodes are available: 3 Insufficient cpu.               | nothing",
      "FailedMount | MountVolume.SetUp failed for volume cfg: configmap cfg not found | UNPREPARED",
      "FailedCreatePodSandBox | plugin type=calico failed (add): no more addresses | UNPREPARED",
      "FailedAttachVolume | Multi-Attach error for volume pvc-1                    | UNPREPARED",
      "NetworkNotReady   | network is not ready: cni plugin not initialized        | UNPREPARED",
      "Scheduled         | Successfully assigned ns/a to node-1                       | nothing"})
  void isSaidByTheEventsOfAutoscalersOfNodes(String reason, String message,
      @Nullable Outlook expected) {
    assertThat(NodeEvent.outlook(reason, message)).isEqualTo(expected);
  }

  @Test
  void keepsNoEventThatALaterOneSupersedes() {
    List<NodeEvent> kept = List.of();
    for (int ago = 3_000; ago > 0; ago--) {
      kept = NodeOutlook.with(event("a ca NotTriggerScaleUp " + ago), kept);
      kept = NodeOutlook.with(event("b k FailedScheduling " + ago), kept);
    }
    // one that is repeated late, from before
    kept = NodeOutlook.with(event("a ca TriggeredScaleUp 5"), kept);

    assertThat(kept).containsExactlyInAnyOrder(event("a ca NotTriggerScaleUp 1"),
        event("b k FailedScheduling 1"));
  }

  /** @param text pod, component, reason, and how many seconds ago it was said */
  private static NodeEvent event(String text) {
    var words = text.strip().split(" ");
    return new NodeEvent(words[0], words[1],
        Objects.requireNonNull(NodeEvent.outlook(words[2], "Failed to schedule pod")), words[2], "",
        NOON.minusSeconds(Long.parseLong(words[3])));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(nullValues = "nothing", delimiter = '|', value = {
      "                                                                  | nothing",
      "a ca TriggeredScaleUp 30                                          | TriggeredScaleUp",
      "a ca NotTriggerScaleUp 30                                         | NotTriggerScaleUp",
      // the last word of each counts
      "a ca NotTriggerScaleUp 30; a ca TriggeredScaleUp 20               | TriggeredScaleUp",
      "a ca TriggeredScaleUp 30; a ca NotTriggerScaleUp 20               | NotTriggerScaleUp",
      "a ca NotTriggerScaleUp 20; a ca TriggeredScaleUp 20               | TriggeredScaleUp",
      "a k Nominated 30; a k FailedScheduling 20                         | FailedScheduling",
      // one node is enough
      "a ca NotTriggerScaleUp 10; a k Nominated 20                       | Nominated",
      "a ca TriggeredScaleUp 20; b ca NotTriggerScaleUp 10               | TriggeredScaleUp",
      "a ca NotTriggerScaleUp 10; b ca NotTriggerScaleUp 20              | NotTriggerScaleUp",
      // until it would have been said again, or the node has been given up
      "a ca NotTriggerScaleUp 359                                        | NotTriggerScaleUp",
      "a ca NotTriggerScaleUp 360                                        | nothing",
      "a ca TriggeredScaleUp 899                                         | TriggeredScaleUp",
      "a ca TriggeredScaleUp 900                                         | nothing",
      "a ca TriggeredScaleUp 900; b ca NotTriggerScaleUp 300             | NotTriggerScaleUp",
      // a clock that is behind ours, or ahead
      "a ca TriggeredScaleUp -5; a ca NotTriggerScaleUp 1                | TriggeredScaleUp"})
  void isWhatWasSaidLast_andANodeThatComesOutweighsOneThatDoesNot(@Nullable String events,
      @Nullable String expected) {
    var all = Stream.ofNullable(events).flatMap(text -> Arrays.stream(text.split(";")))
        .map(NodeOutlookTest::event).toList();
    var said = NodeOutlook.of(all, NOON).said();

    assertThat(said == null ? null : said.reason()).isEqualTo(expected);
  }

  @Test
  void usualTimeIsTheMedianOfTheLastEight_andAMinuteBefore() {
    assertThat(NodeTimes.UNKNOWN.usual()).isEqualTo(Duration.ofMinutes(1));

    var times = NodeTimes.UNKNOWN.with(Duration.ofMinutes(9));
    for (int seconds = 91; seconds <= 98; seconds++) {
      times = times.with(Duration.ofSeconds(seconds));
    }
    assertThat(times.recent()).hasSize(8).doesNotContain(Duration.ofMinutes(9));
    assertThat(times.usual()).isEqualTo(Duration.ofSeconds(95));
  }
}
