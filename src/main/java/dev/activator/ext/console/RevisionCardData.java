package dev.activator.ext.console;

import dev.activator.platform.RevisionDetailsSource;
import dev.activator.platform.RevisionDetailsSource.CardDetails;
import dev.activator.platform.RevisionDetailsSource.RoutingState;
import dev.activator.ext.console.RevisionHourHistory.LastHour;
import dev.activator.ext.console.MinuteHistory.LastMinute;
import dev.activator.revision.LocalProcessProblems;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The data that the console shows of a revision on one card.
 *
 * @param badge the state of the revision
 * @param failure the last failure; null after a success
 */
public record RevisionCardData(RevisionSnapshot now, WaitDiagnosis diagnosis, CardDetails details,
    Badge badge, LastMinute minute, LastHour hour, @Nullable Failed failure) {
  private static final Duration START_PATIENCE = Duration.ofSeconds(10);

  record Failed(String reason, int status, Duration ago) {}

  /** A colour and a word. */
  record Badge(String kind, String word) {}

  RevisionId id() {
    return now.revision();
  }

  int ready() {
    return now.queue().destinations();
  }

  private static Badge badge(RevisionSnapshot now, WaitDiagnosis diagnosis, CardDetails details) {
    var badge = byState(now, diagnosis);
    if (has(details, RoutingState.SUPERSEDED) && badge.kind.equals("bad") && now.queued() == 0) {
      return new Badge("idle", "superseded, " + badge.word);
    }
    return details.obstacles().isEmpty() || badge.kind.equals("bad")
        ? badge
        : new Badge("warn", "needs attention");
  }

  private static boolean has(CardDetails details, RoutingState state) {
    return details.routing() != null && details.routing().state() == state;
  }

  /** The Service to which the revision belongs, or the revision itself. */
  RevisionId service() {
    var routing = details.routing();
    return routing == null ? id() : new RevisionId(id().namespace(), routing.service());
  }

  boolean isSuperseded() {
    return has(details, RoutingState.SUPERSEDED);
  }

  boolean isLive() {
    return has(details, RoutingState.LIVE);
  }

  /**
   * Since when the revision has been in its state; null if the state is newer than its last sample,
   * or older than this process.
   */
  @Nullable Instant since() {
    return hour.state().equals(badge().word()) ? hour.since() : null;
  }

  String whatToDo() {
    var state = mostPods(diagnosis.state(), ready(), details.maxPods()) + diagnosis.whatToDo();
    if (details.obstacles().isEmpty()) {
      return state;
    }
    return "Fix what is in the way, as listed above."
        + (now.queued() == 0 ? "" : " If requests still wait then: " + state);
  }

  /**
   * A remark if requests wait although the revision has its maximum number of pods; otherwise
   * empty.
   */
  static String mostPods(WaitState state, int ready, @Nullable Integer max) {
    boolean busy = state == WaitState.BUSY || state == WaitState.QUEUE_FULL;
    return busy && max != null && ready >= max
        ? max == 1 ? "It may have one pod only. " : "It has all " + max + " pods that it may have. "
        : "";
  }

  private static Badge byState(RevisionSnapshot now, WaitDiagnosis diagnosis) {
    return switch (diagnosis.state()) {
      case UNKNOWN -> new Badge("idle", "unknown");
      case AT_ZERO -> new Badge("idle", "at zero");
      case SERVING, MOVING -> new Badge("good", "serving");
      case SERVING_BY_CLUSTER_IP -> new Badge("good", "serving by ClusterIP");
      case STARTING, NO_PODS, NOT_PROBED_YET -> new Badge("busy", "starting");
      case BUSY -> new Badge("warn", "busy");
      case BOUND, EXCLUSIVE -> new Badge("warn", "busy pods");
      case NOT_ANSWERING ->
        isInTime(now) ? new Badge("busy", "starting") : new Badge("warn", "not answering");
      case RESTARTING -> new Badge("warn", "restarting");
      case OVERDUE -> new Badge("warn", "not ready in time");
      case NOT_READY -> new Badge("warn", "not ready");
      case NOT_SYNCED -> new Badge("warn", "not synced");
      case NO_NEWS -> new Badge("bad", "no news");
      case NO_AUTOSCALER -> new Badge("bad", "cannot be started");
      case QUEUE_FULL -> new Badge("bad", "queue full");
      case CANNOT_START -> new Badge("bad", "cannot start");
      case NO_NODE -> new Badge("bad", "no node");
      case CANNOT_SCALE -> new Badge("bad", "cannot scale");
      case AT_PEERS -> new Badge("warn", "permits elsewhere");
      case PEER_LOST -> new Badge("bad", "activator lost");
      case NOT_TRUSTED -> new Badge("bad", "not trusted");
      case NOT_DELIVERABLE -> new Badge("bad", "not deliverable");
      case NO_CLUSTER_IP -> new Badge("bad", "no ClusterIP");
    };
  }

  /**
   * Whether a start is still within the usual time: most programs refuse connections for a while.
   */
  private static boolean isInTime(RevisionSnapshot now) {
    var start = now.queue().start();
    var requested = start.requested();
    var most = start.usual().isZero() ? START_PATIENCE : start.usual().multipliedBy(2);
    return requested != null && requested.compareTo(most) < 0;
  }

  /** The rank of the card. Cards that need attention have a lower rank, and come first. */
  int rank() {
    int byState = switch (badge().kind()) {
      case "bad" -> 0;
      case "warn" -> 1;
      case "busy" -> 2;
      case "good" -> 3;
      default -> 4;
    };
    return failure == null ? byState : Math.min(byState, 3);
  }

  /** Creates cards from snapshots. <b>Threads.</b> Any. */
  public record Source(RevisionDetailsSource details, MinuteHistory requestHistory,
      RevisionHourHistory hours, LongSupplier nanoTime) {

    RevisionHourHistory.Sample sample(RevisionSnapshot now) {
      var details = details().card(now.revision());
      var badge = badge(now, WaitDiagnosis.of(now), details);
      return new RevisionHourHistory.Sample(now.revision(), badge.word, badge.kind.equals("bad"),
          now.queue().destinations(),
          now.processes().pods().stream().mapToInt(LocalProcessProblems.Restarted::times).sum(),
          has(details, RoutingState.LIVE));
    }

    RevisionCardData of(RevisionSnapshot now) {
      var id = now.revision();
      var diagnosis = WaitDiagnosis.of(now);
      var details = details().card(id);
      return new RevisionCardData(now, diagnosis, details, badge(now, diagnosis, details),
          requestHistory.of(id), hours.of(id), failed(now));
    }

    private @Nullable Failed failed(RevisionSnapshot now) {
      var last = hours.failure(now.revision());
      if (last == null) {
        return null;
      }
      var why = now.queue().start().failure();
      var reason = last.outcome().served() ? "the pod's own" : last.outcome().toString();
      return new Failed(why == null ? reason : reason + ", " + why.reason(), last.status(),
          Duration.ofNanos(Math.max(0, nanoTime.getAsLong() - last.atNanos())));
    }
  }
}
