package dev.activator.proxy.exchange;

import dev.activator.revision.RevisionId;
import dev.activator.testing.RequestCounts;

/** Counts nothing. */
final class UncountedRequests extends RequestCounts {
  @Override
  public void arrived(RevisionId revision) {}

  @Override
  public void left(RevisionId revision) {}
}
