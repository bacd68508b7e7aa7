package dev.activator.proxy.exchange;

import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;

/** Counts nothing. */
final class UncountedRequests implements RequestCounter {
  @Override
  public void arrived(RevisionId revision) {}

  @Override
  public void left(RevisionId revision) {}
}
