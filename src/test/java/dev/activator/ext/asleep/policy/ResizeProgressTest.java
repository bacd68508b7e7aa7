package dev.activator.ext.asleep.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.ConfigValue;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ResizeProgressTest {
  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(delimiter = '|', value = {"[] | 1m | Done[]",
      "[] | '1' | Waiting[why=its node has not begun the resize]",
      "[{type: Ready, status: 'True'}] | 0.001 | Done[]",
      "[{type: PodResizeInProgress, status: 'True'}] | 1m |"
          + " Waiting[why=its node has not ended the resize; where more memory is in use, an Event of the"
          + " pod says so]",
      "[{type: PodResizeInProgress, status: 'True', reason: Error, message: no cgroup}] | 1m |"
          + " Waiting[why=its node has not ended the resize, Error: no cgroup]",
      "[{type: PodResizePending, status: 'True', reason: Deferred, message: not enough cpu}] | 1m |"
          + " Waiting[why=its node has put off the resize as Deferred: not enough cpu]",
      "[{type: PodResizePending, status: 'True', reason: Infeasible, message: too much}] | 1m |"
          + " Failed[why=its node refuses the resize as Infeasible: too much]",
      "[{type: PodResizePending, status: 'True', reason: Infeasible, observedGeneration: 3}] | 1m |"
          + " Failed[why=its node refuses the resize as Infeasible]",
      "[{type: PodResizePending, status: 'True', reason: Infeasible, observedGeneration: 2}] | 1m |"
          + " Done[]",
      "[{type: PodResizePending, status: 'False'}] | 1m | Done[]"})
  void followsFromConditions_andWhatIsInForce(String conditions, String inForce, String expected) {
    var pod = (Map<?, ?>) ConfigValue
        .parse("pod", "{metadata: {generation: 3}, status: {conditions: " + conditions
            + ", containerStatuses: [{name: web, resources: {requests: {cpu: " + inForce + "}}}]}}")
        .value();

    assertThat(ResizeProgress.of(pod,
        List.of(new ContainerResources("web", Map.of("cpu", "1m"), Map.of()))).toString())
        .isEqualTo(expected);
  }
}
