package dev.activator.cluster.decode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.cluster.Yaml;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PodReaderTest {
  private static String ailment(String status) {
    var pod = Yaml.decoded(ResourceKind.PODS,
        "metadata: {namespace: ns, name: p}\nstatus: " + status).fact();
    if (pod == null) {
      return "ends";
    }
    var ailment = pod.ailment();
    return ailment == null ? "none" : ailment.sign() + " " + ailment.reason();
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
      "{containerStatuses: [{state: {waiting: {reason: ErrImagePull}}}]}   | PASSING ErrImagePull",
      "{containerStatuses: [{state: {waiting: {reason: ImagePullBackOff}}}]} | PASSING ImagePullBackOff",
      "{containerStatuses: [{state: {waiting: {reason: CreateContainerConfigError}}}]} "
          + "| PASSING CreateContainerConfigError",
      "{containerStatuses: [{state: {waiting: {reason: RunContainerError}}}]} | PASSING RunContainerError",
      "{initContainerStatuses: [{state: {waiting: {reason: ErrImagePull}}}]}  | PASSING ErrImagePull",
      "{containerStatuses: [{state: {running: {}}}, {state: {waiting: {reason: ErrImagePull}}}]} "
          + "| PASSING ErrImagePull",
      // what lasts
      "{containerStatuses: [{state: {waiting: {reason: CrashLoopBackOff}}}]}  | LASTING CrashLoopBackOff",
      "{containerStatuses: [{state: {waiting: {reason: InvalidImageName}}}]}  | LASTING InvalidImageName",
      "{containerStatuses: [{restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}}, "
          + "lastState: {terminated: {reason: OOMKilled}}}]}                  | LASTING OOMKilled",
      "{containerStatuses: [{restartCount: 2, state: {running: {}}, "
          + "lastState: {terminated: {reason: OOMKilled}}}]}                  | LASTING OOMKilled",
      // what others may change
      "{conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]} "
          + "| SLOW Unschedulable",
      "{conditions: [{type: PodScheduled, status: 'True'}, "
          + "{type: PodReadyToStartContainers, status: 'False'}]}             | SLOW PodNotPrepared",
      // what says nothing about starts
      "{phase: Failed}                                                        | ends",
      "{phase: Succeeded}                                                     | ends"})
  void readsWhatKeepsAPodFromStarting(String status, String expected) {
    assertThat(ailment(status)).isEqualTo(expected);
  }

  @Test
  void aPodThatIsDeletedSaysNothing() {
    assertThat(Yaml.decoded(ResourceKind.PODS, """
        metadata: {namespace: ns, name: p, deletionTimestamp: "2026-01-01T00:00:00Z"}
        status: {containerStatuses: [{state: {waiting: {reason: ErrImagePull}}}]}
        """).fact()).isNull();
  }
}
