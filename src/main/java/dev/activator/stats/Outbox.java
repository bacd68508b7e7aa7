package dev.activator.stats;

import dev.activator.revision.RevisionId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is to be sent. Of reports only the latest of each revision is worth sending. The message of a
 * revision's first request is kept until the autoscaler is known to have it, by the pong to a ping
 * sent after it. If the link breaks before, it is sent again: it is idempotent, and a lost one leaves
 * a revision at zero.
 *
 * <p>
 * <b>Threads.</b> Confined to the link's loop.
 */
final class Outbox {
  /** Reports beyond this many revisions push out the oldest. */
  private static final int REPORTS = 10_000;

  private final Set<RevisionId> firsts = new LinkedHashSet<>();
  private final Map<RevisionId, RevisionStat> reports = new LinkedHashMap<>();
  private final Set<RevisionId> sent = new LinkedHashSet<>();
  private final Set<RevisionId> sentBeforePing = new LinkedHashSet<>();
  private long pings;
  private long pongs;
  private long confirmingPing;

  void first(RevisionId revision) {
    firsts.add(revision);
    // A report that is queued is older: sent after, it would say "idle again".
    reports.remove(revision);
  }

  void report(List<RevisionStat> stats) {
    for (var stat : stats) {
      reports.remove(stat.revision());
      reports.put(stat.revision(), stat);
    }
    while (reports.size() > REPORTS) {
      reports.remove(reports.keySet().iterator().next());
    }
  }

  boolean isEmpty() {
    return firsts.isEmpty() && reports.isEmpty();
  }

  /** All there is to send, first requests first; it counts as sent from now on. */
  List<RevisionStat> take() {
    var all = new ArrayList<RevisionStat>();
    firsts.forEach(revision -> all.add(RevisionStat.first(revision)));
    all.addAll(reports.values());
    sent.addAll(firsts);
    firsts.clear();
    reports.clear();
    return all;
  }

  /** A ping was sent; its pong will confirm what was sent before. */
  void pinged() {
    pings++;
    if (sentBeforePing.isEmpty()) {
      sentBeforePing.addAll(sent);
      sent.clear();
      confirmingPing = pings;
    }
  }

  /** A pong came. They come in the order of the pings. */
  void ponged() {
    pongs++;
    if (pongs >= confirmingPing) {
      sentBeforePing.clear();
    }
  }

  /** The link broke; what was not confirmed is sent again. */
  void lost() {
    firsts.addAll(sentBeforePing);
    firsts.addAll(sent);
    sentBeforePing.clear();
    sent.clear();
    pings = 0;
    pongs = 0;
  }
}
