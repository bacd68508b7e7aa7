package dev.activator.console;

import dev.activator.lending.link.PeerNetwork;
import dev.activator.throttle.ThrottleView;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the load of this activator and of the others.
 *
 * <p><b>Threads.</b> Any.
 */
public final class ActivatorLoadsCollector {
  private final String pod;
  private final OwnLoad own;
  private volatile @Nullable PeerNetwork peers;

  /** @param pod the name of this activator's pod */
  public ActivatorLoadsCollector(String pod, OwnLoad own) {
    this.pod = pod;
    this.own = own;
  }

  /** Sets the network of the other activators. Without it, only this activator is shown. */
  public void peers(PeerNetwork network) {
    network.answerLoads(own);
    peers = network;
  }

  /**
   * The current load of this activator, and the last known loads of the others. Requests new loads
   * from them.
   *
   * @param here the throttlers of all revisions at this activator
   */
  ActivatorLoads read(List<ThrottleView> here) {
    var network = peers;
    if (network == null) {
      return ActivatorLoads.of(pod, own.of(here), List.of(), Map.of(), 0);
    }
    network.requestLoads();
    return ActivatorLoads.of(pod, own.of(here), network.views(), network.loads(),
        network.loop().nanoTime());
  }
}
