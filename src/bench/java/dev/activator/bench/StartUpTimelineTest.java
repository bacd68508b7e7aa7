package dev.activator.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.bench.StartUpTimeline.LoadedClass;
import dev.activator.bench.StartUpTimeline.Step;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StartUpTimelineTest {
  @Test
  void readsBeansAndOtherLines() {
    var steps = StartUpTimeline.steps(Instant.parse("2026-01-01T00:00:00Z"), List.of(
        "{\"severity\":\"DEBUG\",\"timestamp\":\"2026-01-01T00:00:00.250000000Z\",\"caller\":\"x:1\","
            + "\"message\":\"Creating shared instance of singleton bean 'cluster'\",\"commit\":\"x\"}",
        "WARNING: a line of the JVM",
        "{\"severity\":\"INFO\",\"timestamp\":\"2026-01-01T00:00:01.5Z\",\"message\":\"a \\\"b\\\"\"}"));

    assertThat(steps).containsExactly(new Step(250, "bean cluster"),
        new Step(1_500, "a \\\"b\\\""));
  }

  @Test
  void readsWhereClassesComeFrom() {
    var classes = StartUpTimeline.classes(List.of(
        "[0.010s] java.lang.Object source: shared objects file",
        "[1.234s][info][class,load] dev.activator.loop.Loop source: jar:file:/app/activator.jar!/",
        "[1.300s] something else"));

    assertThat(classes).containsExactly(new LoadedClass(10, "java.lang.Object", true),
        new LoadedClass(1_234, "dev.activator.loop.Loop", false));
  }

  @Test
  void theLongestStepComesFirst_andTheLastOneEndsWhenItIsReady() {
    var longest = StartUpTimeline.longest(100,
        List.of(new Step(10, "a"), new Step(15, "b"), new Step(200, "after it was ready")));

    assertThat(longest).containsExactly(Map.entry(new Step(15, "b"), 85.0),
        Map.entry(new Step(0, "until the first line"), 10.0),
        Map.entry(new Step(10, "a"), 5.0));
  }
}
