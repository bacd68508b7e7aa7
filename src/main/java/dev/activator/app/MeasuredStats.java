package dev.activator.app;

import dev.activator.observability.request.RequestMeters;
import dev.activator.stats.RevisionStat;
import dev.activator.stats.StatSink;
import java.util.List;

/** Passes on what the autoscaler is told, and shows it in the meters. */
public record MeasuredStats(StatSink sink, RequestMeters meters) implements StatSink {

  @Override
  public void firstRequest(RevisionStat stat) {
    sink.firstRequest(stat);
  }

  @Override
  public void report(List<RevisionStat> stats) {
    sink.report(stats);
    stats.forEach(stat -> meters.reported(stat.revision(), stat.averageConcurrency()));
  }
}
