package dev.activator.ext.console;

import dev.activator.ext.console.WaitingOverview.ApiState;
import dev.activator.loop.Loop;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** With a link, a synced API and one loop, and nothing else. */
class InspectorSources implements RevisionInspector.Sources {
  private final Loop loop;
  private final Supplier<AutoscalerLink.View> link;

  InspectorSources(Loop loop, Supplier<AutoscalerLink.View> link) {
    this.loop = loop;
    this.link = link;
  }

  @Override
  public CompletableFuture<AutoscalerLink.View> link() {
    return CompletableFuture.completedFuture(link.get());
  }

  @Override
  public ApiState api() {
    return new ApiState(true, List.of());
  }

  @Override
  public Loop loop(RevisionId id) {
    return loop;
  }

  @Override
  public @Nullable RevisionId named(RevisionId id) {
    return id;
  }
}
