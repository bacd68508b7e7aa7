package dev.activator.stats;

import java.util.ArrayList;
import java.util.List;

/** Remembers what it was told, in order. */
final class RecordingSink implements StatSink {
  private final List<RevisionStat> all = new ArrayList<>();
  private final List<List<RevisionStat>> atOnce = new ArrayList<>();
  private final List<List<RevisionStat>> reports = new ArrayList<>();

  @Override
  public void atOnce(List<RevisionStat> stats) {
    all.addAll(stats);
    atOnce.add(stats);
  }

  @Override
  public void report(List<RevisionStat> stats) {
    all.addAll(stats);
    reports.add(stats);
  }

  List<RevisionStat> all() {
    return all;
  }

  List<List<RevisionStat>> atOnce() {
    return atOnce;
  }

  List<List<RevisionStat>> reports() {
    return reports;
  }
}
