package dev.activator.ext.waitingpage;

import dev.activator.config.WaitingPageMode;
import dev.activator.proxy.exchange.Seams.Arrival;
import dev.activator.proxy.exchange.Seams.WaitPolicy;
import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.revision.LiveRevisions;
import dev.activator.testing.TestExtension;
import java.util.List;

/** Waiting pages with the built-in template, attached in tests. */
public final class WaitingPagesInTests implements TestExtension {
  @Override
  public Arrival arrival(WaitingPageMode pages, List<DoNotWakeRule> rules) {
    return pages(pages);
  }

  @Override
  public WaitPolicy waitPolicy(WaitingPageMode pages, LiveRevisions revisions) {
    return pages(pages);
  }

  private static WaitingPages pages(WaitingPageMode mode) {
    return new WaitingPages(mode, () -> WaitingPageTemplate.DEFAULT);
  }
}
