package dev.activator.ext.console;

import static dev.activator.ext.console.Html.count;
import static dev.activator.ext.console.Html.length;
import static java.util.stream.Collectors.joining;

import dev.activator.throttle.ThrottleView.SharedPermitsView;
import java.util.List;

/** The texts about the permits of a revision's pods that other activators have. */
final class PermitsElsewhere {
  private static final int MAX_NAMED_PODS = 3;

  private PermitsElsewhere() {}

  /** How many permits are at the others, in parentheses. */
  static String shares(SharedPermitsView lending, int containerConcurrency) {
    int others = lending.pods().stream()
        .mapToInt(pod -> pod.owned() ? 0 : containerConcurrency - pod.permits()).sum();
    int lent = lending.pods().stream().mapToInt(SharedPermitsView.PodShare::lent).sum();
    return " (" + count(lending.activators().size(), "activator") + " share them: "
        + (others + lent) + " more are at the others" + owners(lending)
        + (lending.agreed() ? "" : ", and they do not agree yet who owns new pods")
        + lending.lost().stream().map(peer -> "; the link to " + lostFor(peer)).collect(joining())
        + ")";
  }

  /**
   * The owners of pods of which this activator has no permit. Only the owners know whether the pods
   * are idle.
   */
  static String owners(SharedPermitsView lending) {
    return lending.pods().stream()
        .filter(pod -> !pod.owned() && pod.permits() == 0 && pod.owner() != null)
        .limit(MAX_NAMED_PODS).map(pod -> ", " + pod.pod() + " at " + pod.owner())
        .collect(joining());
  }

  /** For each activator whose link is lost, the permits that are reserved for it. */
  static List<String> reserved(SharedPermitsView lending) {
    return lending.lost().stream().filter(peer -> peer.remaining().isPositive())
        .map(peer -> (peer.lent() > 0
            ? count(peer.lent(), "permit") + (peer.lent() == 1 ? " is" : " are") + " at "
                + lostFor(peer)
            : "requests may still run at " + lostFor(peer)) + " (used again in at most "
            + length(peer.remaining()) + ")")
        .toList();
  }

  /** The owners of pods to which the link is lost. */
  static List<String> lostOwners(SharedPermitsView lending) {
    return lending.lost().stream()
        .filter(peer -> lending.pods().stream().anyMatch(pod -> peer.address().equals(pod.owner())))
        .map(peer -> lostFor(peer) + ", and which goes on using them").toList();
  }

  private static String lostFor(SharedPermitsView.LostPeer peer) {
    return peer.address() + ", whose link has been lost for " + length(peer.since());
  }
}
