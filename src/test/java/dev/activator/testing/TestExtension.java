package dev.activator.testing;

import dev.activator.config.WaitingPageMode;
import dev.activator.loop.Loop;
import dev.activator.proxy.exchange.Seams.Arrival;
import dev.activator.proxy.exchange.Seams.TunnelWatcher;
import dev.activator.proxy.exchange.Seams.WaitPolicy;
import dev.activator.revision.ColdStartRules.DoNotWakeRule;
import dev.activator.revision.LiveRevisions;
import dev.activator.throttle.PermitSharing;
import java.util.List;

/** What an extension attaches to the throttlers and dispatchers of tests. */
public interface TestExtension {
  /** @param rules for all revisions */
  default Arrival arrival(WaitingPageMode pages, List<DoNotWakeRule> rules) {
    return Arrival.NONE;
  }

  default WaitPolicy waitPolicy(WaitingPageMode pages, LiveRevisions revisions) {
    return WaitPolicy.NONE;
  }

  default TunnelWatcher tunnels(Loop loop) {
    return TunnelWatcher.NONE;
  }

  default PermitSharing sharing(String ownAddress) {
    return PermitSharing.NONE;
  }
}
