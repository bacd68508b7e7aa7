package dev.activator.app;

import dev.activator.loop.Loop;
import dev.activator.observability.meter.Meters;
import dev.activator.observability.meter.Metric;
import dev.activator.upstream.ProbeAnswer;
import dev.activator.upstream.ProbeClient;
import dev.activator.upstream.ProbeRequest;
import io.prometheus.metrics.model.snapshots.Labels;
import java.time.Duration;
import java.util.function.Consumer;

/** Has another ask, and measures how long answers take. */
public record MeasuredProbes(ProbeClient client, Meters meters) implements ProbeClient {
  private static final Labels ANSWERED = Labels.of("outcome", "answered");
  private static final Labels FAILED = Labels.of("outcome", "failed");

  @Override
  public void ask(Loop loop, ProbeRequest request, Consumer<ProbeAnswer> done) {
    long asked = loop.nanoTime();
    client.ask(loop, request, answer -> {
      boolean answered = answer instanceof ProbeAnswer.Answered
          || answer instanceof ProbeAnswer.Connected;
      meters.measured(Metric.PROBES, answered ? ANSWERED : FAILED,
          Duration.ofNanos(loop.nanoTime() - asked));
      done.accept(answer);
    });
  }
}
