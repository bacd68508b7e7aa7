package dev.activator.console;

import dev.activator.lending.link.ActivatorLoad;
import dev.activator.lending.link.ActivatorLoad.Busy;
import dev.activator.lending.link.ActivatorLoad.Requests;
import dev.activator.lending.link.PeerNetwork.AnsweredLoad;
import dev.activator.lending.link.PeerSnapshot;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The loads of all activators and their sum, for the console.
 *
 * @param activators with this one first
 */
record ActivatorLoads(List<Activator> activators) {
  /** The maximum age of an answer. Loads are requested once a second. */
  static final Duration MAX_AGE = Duration.ofSeconds(5);

  /**
   * @param load null if the activator does not report its load
   * @param problem why it does not, without a subject; empty if it does
   */
  record Activator(String pod, boolean here, @Nullable ActivatorLoad load, String problem) {}

  ActivatorLoads {
    activators = List.copyOf(activators);
  }

  /** @param loads the last answers, by address */
  static ActivatorLoads of(String pod, ActivatorLoad own, List<PeerSnapshot> peers,
      Map<String, AnsweredLoad> loads, long nowNanos) {
    var all = new ArrayList<Activator>();
    all.add(new Activator(pod, true, own, ""));
    peers.forEach(peer -> all.add(of(peer, loads.get(peer.address()), nowNanos)));
    return new ActivatorLoads(all);
  }

  private static Activator of(PeerSnapshot peer, @Nullable AnsweredLoad answer, long nowNanos) {
    var name = peer.pod().isEmpty() ? peer.address() : peer.pod();
    if (peer.state() != PeerSnapshot.State.LINKED) {
      return new Activator(name, false, null, "is not linked: " + peer.problem());
    }
    return answer == null || nowNanos - answer.atNanos() > MAX_AGE.toNanos()
        ? new Activator(name, false, null, "does not answer")
        : new Activator(name, false, answer.load(), "");
  }

  private Stream<ActivatorLoad> loads() {
    return activators.stream().map(Activator::load).filter(Objects::nonNull);
  }

  Requests requests() {
    return loads().map(ActivatorLoad::requests).reduce(Requests.NONE, Requests::plus);
  }

  Map<Integer, Integer> errors() {
    var sums = new TreeMap<Integer, Integer>();
    loads().forEach(
        load -> load.errors().forEach((status, count) -> sums.merge(status, count, Integer::sum)));
    return sums;
  }

  /** The number of revisions for whose first pod requests wait, at any activator. */
  int coldStarts() {
    return (int) loads().flatMap(load -> load.busy().stream()).filter(Busy::starting)
        .map(Busy::revision).distinct().count();
  }

  /** The activators whose requests are not in the sums. */
  List<Activator> silent() {
    return activators.stream().filter(activator -> activator.load() == null).toList();
  }

  /** The requests of each revision at other activators. */
  Map<RevisionId, Requests> elsewhere() {
    var sums = new HashMap<RevisionId, Requests>();
    activators.stream().filter(activator -> !activator.here()).map(Activator::load)
        .filter(Objects::nonNull).map(ActivatorLoad::busy).flatMap(List::stream)
        .forEach((Busy busy) -> sums.merge(busy.revision(), busy.requests(), Requests::plus));
    return sums;
  }
}
