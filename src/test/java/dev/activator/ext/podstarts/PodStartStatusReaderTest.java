package dev.activator.ext.podstarts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.Yaml;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PodStartStatusReaderTest {
  private static String failure(String status) {
    var pod = Yaml.decoded(PodStartWatch.PODS,
        "metadata: {namespace: ns, name: p}\nstatus: " + status).value();
    if (pod == null) {
      return "ends";
    }
    var failure = pod.failure();
    return failure == null ? "none" : failure.persistence() + " " + failure.reason();
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource(delimiter = '|', value = {
      // part of any start
      "{}                                                                           | none",
      "{phase: Pending, containerStatuses: [{state: {waiting: {reason: ContainerCreating}}}]} | none",
      "{containerStatuses: [{state: {waiting: {reason: PodInitializing}}}]}         | none",
      "{phase: Running, containerStatuses: [{state: {running: {}}}]}                | none",
      "{conditions: [{type: PodScheduled, status: 'True'}]}                         | none",
      // the first end of a container is followed by a second try at once
      "{containerStatuses: [{restartCount: 0, state: {terminated: {exitCode: 1}}}]} | none",
      "{containerStatuses: [{restartCount: 1, state: {running: {}}, "
          + "lastState: {terminated: {reason: OOMKilled}}}]}                        | none",
      // what a container has got over
      "{containerStatuses: [{ready: true, restartCount: 2, state: {running: {}}, "
          + "lastState: {terminated: {reason: OOMKilled}}}]}                        | none",
      // what may pass
      "{containerStatuses: [{state: {waiting: {reason: ErrImagePull}}}]}   | RETRIED ErrImagePull",
      "{containerStatuses: [{state: {waiting: {reason: ImagePullBackOff}}}]} | RETRIED ImagePullBackOff",
      "{containerStatuses: [{state: {waiting: {reason: CreateContainerConfigError}}}]} "
          + "| RETRIED CreateContainerConfigError",
      "{containerStatuses: [{state: {waiting: {reason: RunContainerError}}}]} | RETRIED RunContainerError",
      "{initContainerStatuses: [{state: {waiting: {reason: ErrImagePull}}}]}  | RETRIED ErrImagePull",
      "{containerStatuses: [{state: {running: {}}}, {state: {waiting: {reason: ErrImagePull}}}]} "
          + "| RETRIED ErrImagePull",
      // what lasts
      "{containerStatuses: [{state: {waiting: {reason: CrashLoopBackOff}}}]}  | PERMANENT CrashLoopBackOff",
      "{containerStatuses: [{state: {waiting: {reason: InvalidImageName}}}]}  | PERMANENT InvalidImageName",
      "{containerStatuses: [{restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}}, "
          + "lastState: {terminated: {reason: OOMKilled}}}]}                  | PERMANENT OOMKilled",
      "{containerStatuses: [{restartCount: 2, state: {running: {}}, "
          + "lastState: {terminated: {reason: OOMKilled}}}]}                  | PERMANENT OOMKilled",
      // what others may change
      "{conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]} "
          + "| UNSCHEDULED Unschedulable",
      "{conditions: [{type: PodScheduled, status: 'True'}, "
          + "{type: PodReadyToStartContainers, status: 'False'}]}             | SLOW PodNotPrepared",
      // what says nothing about starts
      "{phase: Failed}                                                        | ends",
      "{phase: Succeeded}                                                     | ends"})
  void readsWhatKeepsAPodFromStarting(String status, String expected) {
    assertThat(failure(status)).isEqualTo(expected);
  }

  @Test
  void readsHowACrashingContainerEnded() {
    var pod = Yaml.decoded(PodStartWatch.PODS, """
        metadata: {namespace: ns, name: p}
        status: {containerStatuses: [{name: app, restartCount: 4,
          state: {waiting: {reason: CrashLoopBackOff, message: back-off 40s}},
          lastState: {terminated: {reason: Error, exitCode: 1, message: "panic: boom"}}}]}
        """).value();

    assertThat(pod.failure().message())
        .isEqualTo("container app ended with exit code 1: panic: boom");
  }

  private static final String RUNNING = "{state: {running: {startedAt: '2026-01-01T00:00:0%sZ'}}}";

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource(delimiter = '|', value = {
      "{}                                                                      | create=1",
      "{conditions: [{type: PodScheduled, status: 'False', "
          + "lastTransitionTime: '2026-01-01T00:00:02Z'}]}                     | create=1",
      "{conditions: [{type: PodScheduled, status: 'True', "
          + "lastTransitionTime: '2026-01-01T00:00:02Z'}, "
          + "{type: PodReadyToStartContainers, status: 'True', "
          + "lastTransitionTime: '2026-01-01T00:00:03Z'}, "
          + "{type: Initialized, status: 'True', "
          + "lastTransitionTime: '2026-01-01T00:00:04Z'}]} | create=1 schedule=2 prepare=3 init=4",
      "{conditions: [{type: PodScheduled, status: 'True', "
          + "lastTransitionTime: '2026-01-01T00:00:02Z'}, "
          + "{type: PodReadyToStartContainers, status: 'False'}, "
          + "{type: Initialized, status: 'True', "
          + "lastTransitionTime: '2026-01-01T00:00:02Z'}]}                     | create=1 schedule=2",
      "{conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: soon}]} | create=1",
      "{conditions: [{type: PodScheduled, status: 'True'}]}                    | create=1",
      // once the last container runs
      "{containerStatuses: [R7, R6, {state: {waiting: {reason: ContainerCreating}}}]} | create=1",
      "{containerStatuses: [R7, {state: {terminated: {reason: Error}}}]}       | create=1",
      "{containerStatuses: []}                                                 | create=1",
      "{containerStatuses: [R6, R7, R5]}                             | create=1 container=7",
      "{initContainerStatuses: [R9], containerStatuses: [R7]}        | create=1 container=7"})
  void readsWhenPhasesEnded(String status, String expected) {
    var written = status.replaceAll("R(\\d)", RUNNING.formatted("$1"));
    var pod = Yaml.decoded(PodStartWatch.PODS, "metadata: {namespace: ns, name: p, "
        + "creationTimestamp: '2026-01-01T00:00:01Z'}\nstatus: " + written).value();

    assertThat(new TreeMap<>(pod.ends()).entrySet().stream()
        .map(end -> end.getKey() + "=" + end.getValue().getEpochSecond() % 60)
        .collect(Collectors.joining(" "))).isEqualTo(expected);
  }

  @Test
  void aPodThatIsDeletedSaysNothing() {
    assertThat(Yaml.decoded(PodStartWatch.PODS, """
        metadata: {namespace: ns, name: p, deletionTimestamp: "2026-01-01T00:00:00Z"}
        status: {containerStatuses: [{state: {waiting: {reason: ErrImagePull}}}]}
        """).value()).isNull();
  }
}
