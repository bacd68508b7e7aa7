package dev.activator.console;

import dev.activator.observability.ColdStarts;
import dev.activator.observability.LastFailures;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Adds to a snapshot what the console shows besides. <b>Threads.</b> Any. */
public record RevisionCards(RevisionFacts facts, RevisionActivity activity, ColdStarts starts,
    LastFailures failures, LongSupplier nanoTime) {

  RevisionCard of(RevisionSnapshot now) {
    var id = now.revision();
    return new RevisionCard(now, Diagnosis.of(now), facts.card(id), activity.of(id),
        starts.listedFor(id), failed(now));
  }

  private RevisionCard.@Nullable Failed failed(RevisionSnapshot now) {
    var last = failures.of(now.revision());
    if (last == null) {
      return null;
    }
    var why = now.queue().start().failure();
    var reason = last.outcome().served() ? "the pod's own" : last.outcome().toString();
    return new RevisionCard.Failed(
        why == null ? reason : reason + ", " + why.reason(), last.status(),
        Duration.ofNanos(Math.max(0, nanoTime.getAsLong() - last.atNanos())));
  }
}
