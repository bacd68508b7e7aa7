package dev.activator.testing;

import dev.activator.revision.LiveRevision;
import dev.activator.revision.RevisionId;
import dev.activator.stats.ConcurrencyReporter.RequestCounter;
import dev.activator.stats.ConcurrencyReporter.RevisionCount;

/** Counts the requests of all revisions as a test does. */
public abstract class RequestCounts implements RequestCounter {
  public abstract void arrived(RevisionId revision);

  public abstract void left(RevisionId revision);

  @Override
  public final RevisionCount of(LiveRevision revision) {
    var id = revision.id();
    return new RevisionCount() {
      @Override
      public void arrived() {
        RequestCounts.this.arrived(id);
      }

      @Override
      public void left() {
        RequestCounts.this.left(id);
      }
    };
  }
}
