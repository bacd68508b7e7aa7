package dev.activator.ext.console;

import dev.activator.revision.RevisionId;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.throttle.ThrottleView;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The numbers of the console's first row.
 *
 * @param inFlight the requests in flight at all activators
 * @param queued the requests that wait at all activators
 * @param oldestWait at this activator; zero if none waits
 * @param errors the failed requests of the last minute at this activator, by status
 * @param coldStarts the number of revisions for whose first pod requests wait here
 * @param peers the number of other activators
 * @param missing the others whose requests are not in the sums, with the reason
 */
record ActivatorTotals(double perSecond, int inFlight, int queued, Duration oldestWait,
    Map<Integer, Integer> errors, int coldStarts, int peers, List<String> missing) {

  /** @param here the throttlers of all revisions at this activator */
  static ActivatorTotals of(Collection<ThrottleView> here, Map<RevisionId, Double> rates,
      Map<Integer, Integer> errors, List<PeerSnapshot> peers) {
    var own = PeerSnapshot.Load.of(here);
    var others = peers.stream().map(PeerSnapshot::load).filter(Objects::nonNull).toList();
    return new ActivatorTotals(rates.values().stream().mapToDouble(Double::doubleValue).sum(),
        own.inFlight() + others.stream().mapToInt(PeerSnapshot.Load::inFlight).sum(),
        own.queued() + others.stream().mapToInt(PeerSnapshot.Load::queued).sum(),
        here.stream().map(ThrottleView::oldestWait).max(Comparator.naturalOrder())
            .orElse(Duration.ZERO),
        errors,
        (int) here.stream().filter(view -> view.queued() > 0 && view.capacity() == 0).count(),
        peers.size(),
        peers.stream().filter(peer -> peer.load() == null).map(ActivatorTotals::missing).toList());
  }

  private static String missing(PeerSnapshot peer) {
    return (peer.pod().isEmpty() ? peer.address() : peer.pod())
        + (peer.state() == PeerSnapshot.State.LINKED
            ? " does not answer"
            : " is not linked: " + peer.problem());
  }
}
