package dev.activator.ext.lending;

import dev.activator.ext.lending.link.PeerNetwork;
import dev.activator.observability.Meters;
import dev.activator.observability.MetricDefinition;
import dev.activator.throttle.PeerSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Locale;

/** Registers the metrics of lending and of the links to other activators. */
record LendingMeters(Meters meters) {
  void peers(PeerNetwork network) {
    for (var state : PeerSnapshot.State.values()) {
      meters.number(MetricDefinition.PEERS,
          Labels.of("state", state.name().toLowerCase(Locale.ROOT)),
          () -> network.views().stream().filter(view -> view.state() == state).count());
    }
    meters.number(MetricDefinition.PEER_FRAMES, Labels.of("direction", "sent"), network::sent);
    meters.number(MetricDefinition.PEER_FRAMES, Labels.of("direction", "received"),
        network::received);
    network.onRoundTrip(
        time -> meters.measured(MetricDefinition.PEER_ROUND_TRIP, Labels.EMPTY, time));
  }

  void lending(PermitLending lending) {
    var counts = lending.counts();
    meters.number(MetricDefinition.PERMITS_LENT, Labels.EMPTY, lending::lent);
    meters.number(MetricDefinition.PERMITS_BORROWED, Labels.EMPTY, lending::borrowed);
    meters.number(MetricDefinition.PERMITS_GRANTED, Labels.of("direction", "lent"),
        counts::permitsLent);
    meters.number(MetricDefinition.PERMITS_GRANTED, Labels.of("direction", "borrowed"),
        counts::permitsBorrowed);
    meters.number(MetricDefinition.PERMITS_RECALLED, Labels.of("direction", "sent"),
        counts::sentRecalls);
    meters.number(MetricDefinition.PERMITS_RECALLED, Labels.of("direction", "received"),
        counts::receivedRecalls);
    meters.number(MetricDefinition.PERMITS_SAVED, Labels.EMPTY, counts::savedRequestSeconds);
  }
}
