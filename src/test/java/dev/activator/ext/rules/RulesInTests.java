package dev.activator.ext.rules;

import dev.activator.config.WaitingPageMode;
import dev.activator.loop.Loop;
import dev.activator.proxy.exchange.Seams.Arrival;
import dev.activator.proxy.exchange.Seams.TunnelWatcher;
import dev.activator.proxy.exchange.Seams.WaitPolicy;
import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.revision.LiveRevisions;
import dev.activator.testing.TestExtension;
import java.util.List;

/** The rules of cold starts, attached in tests. A fallback names a revision. */
public final class RulesInTests implements TestExtension {
  @Override
  public Arrival arrival(WaitingPageMode pages, List<DoNotWakeRule> rules) {
    return new DoNotWakeArrival(rules);
  }

  @Override
  public WaitPolicy waitPolicy(WaitingPageMode pages, LiveRevisions revisions) {
    return new FallbackPolicy(name -> name, revisions);
  }

  @Override
  public TunnelWatcher tunnels(Loop loop) {
    return new TunnelActivityTracker(loop);
  }
}
