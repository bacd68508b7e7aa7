package dev.activator.ext.podstarts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.podstarts.policy.NodeEvent;
import dev.activator.ext.podstarts.policy.NodeEvent.Outlook;
import dev.activator.kube.Yaml;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class NodeEventReaderTest {
  private static NodeEvent read(String event) {
    return Yaml.decoded(PodStartWatch.NODE_EVENTS, "metadata: {namespace: ns, name: a.17,"
        + " creationTimestamp: '2026-01-01T00:00:00Z'}\n"
        + "involvedObject: {kind: Pod, namespace: ns, name: a, uid: u-1}\n" + event).value();
  }

  @Test
  void readsOneThatIsRepeatedByItsCount() {
    assertThat(read("""
        reason: NotTriggerScaleUp
        message: "pod didn't trigger scale-up: 1 max node group size reached"
        source: {component: cluster-autoscaler}
        firstTimestamp: '2026-01-01T00:00:00Z'
        lastTimestamp: '2026-01-01T00:05:10Z'
        eventTime: null
        count: 2
        reportingComponent: cluster-autoscaler
        """)).isEqualTo(new NodeEvent("u-1", "cluster-autoscaler", Outlook.NONE,
        "NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached",
        Instant.parse("2026-01-01T00:05:10Z")));
  }

  @Test
  void readsOneThatIsRepeatedAsASeries() {
    assertThat(read("""
        reason: Nominated
        message: 'Pod should schedule on: nodeclaim/default-x7k2p'
        source: {}
        firstTimestamp: null
        lastTimestamp: null
        eventTime: '2026-01-01T00:00:01.000000Z'
        series: {count: 2, lastObservedTime: '2026-01-01T00:02:01.500000Z'}
        reportingComponent: karpenter
        """)).isEqualTo(new NodeEvent("u-1", "karpenter", Outlook.COMING, "Nominated",
        "Pod should schedule on: nodeclaim/default-x7k2p",
        Instant.parse("2026-01-01T00:02:01.500Z")));
  }

  @Test
  void timesOneWithoutATimeByItsCreation() {
    assertThat(read("reason: TriggeredScaleUp\nlastTimestamp: soon").at())
        .isEqualTo(Instant.parse("2026-01-01T00:00:00Z"));
  }

  @Test
  void ignoresOthers() {
    assertThat(read("reason: Pulled")).isNull();
  }
}
