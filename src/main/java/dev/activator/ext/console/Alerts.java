package dev.activator.ext.console;

import dev.activator.ext.console.RevisionHourHistory.Kind;
import dev.activator.ext.console.RevisionHourHistory.LastHour;
import dev.activator.ext.console.WaitingOverview.ApiState;
import dev.activator.ext.console.WaitingOverview.LeaderReport;
import dev.activator.observability.RequestOutcome;
import dev.activator.revision.RevisionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Evaluates the alerts of the Helm chart, with their default thresholds, as far as a single
 * activator has the data for them.
 *
 * <p><b>Threads.</b> Any.
 *
 * <p><b>Source.</b> {@code helm/activator/templates/alerts.yaml}; a test compares the two.
 */
public final class Alerts {
  static final double ERROR_RATIO = 0.05;
  static final double REQUESTS_PER_SECOND = 0.1;
  static final double REJECTS_PER_SECOND = 0.1;
  static final double SATURATION = 0.9;
  private static final int RATE_MINUTES = RevisionHourHistory.REJECT_MINUTES;
  private static final Set<RequestOutcome> NOT_OURS = EnumSet.of(RequestOutcome.CALLER_GONE,
      RequestOutcome.CALLER_DEADLINE, RequestOutcome.BAD_REQUEST, RequestOutcome.REVISION_UNKNOWN);

  /** The rules, the most serious first. */
  enum Rule {
    WITHOUT_AUTOSCALER("ActivatorWithoutAutoscaler", Duration.ofMinutes(2), true),
    WITHOUT_LEADER("ActivatorWithoutLeader", Duration.ofMinutes(1), true),
    REQUESTS_HELD("ActivatorRequestsHeld", Duration.ofMinutes(2), false),
    ERRORS("ActivatorErrors", Duration.ofMinutes(10), false),
    REJECTS("ActivatorRejects", Duration.ofMinutes(5), false),
    SCALE_WRITES_FAIL("ActivatorScaleWritesFail", Duration.ofMinutes(5), false),
    SATURATED("ActivatorSaturated", Duration.ofMinutes(5), false),
    WITHOUT_NEWS("ActivatorWithoutNews", Duration.ofMinutes(5), false);

    private final String alert;
    private final Duration after;
    private final boolean critical;

    Rule(String alert, Duration after, boolean critical) {
      this.alert = alert;
      this.after = after;
      this.critical = critical;
    }

    String alert() {
      return alert;
    }

    /** How long the condition must be true before the alert fires. */
    Duration after() {
      return after;
    }
  }

  /** @param about distinguishes alerts of the same rule; may be empty */
  record Condition(Rule rule, String about, String text) {}

  /** @param firesIn zero if it is firing */
  public record Alert(String name, String text, boolean critical, Duration firesIn) {}

  /** @param hour the last hour of the revision */
  public record Load(RevisionId id, int inFlight, int queued, LastHour hour) {}

  /**
   * The inputs of the rules.
   *
   * @param linkProblem null while the autoscaler is connected
   * @param leader null where none is elected
   * @param rejects the rejections of the last five minutes, by outcome
   * @param unscalable the number of workloads that cannot be scaled, by reason
   */
  public record Inputs(@Nullable String linkProblem, @Nullable LeaderReport leader, ApiState api,
      double saturation, List<Load> revisions, Map<RequestOutcome, Integer> rejects,
      Map<String, Integer> unscalable) {}

  private final LongSupplier nanoTime;
  private final Map<String, Since> since = new HashMap<>();

  private record Since(Condition condition, long nanos) {}

  public Alerts(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  static List<Condition> conditions(Inputs now) {
    var all = new ArrayList<Condition>();
    if (now.linkProblem != null) {
      all.add(new Condition(Rule.WITHOUT_AUTOSCALER, "", "This activator cannot reach "
          + (now.leader == null ? "the autoscaler: " : "the activator that scales: ")
          + now.linkProblem));
    }
    if (now.leader != null && now.leader.pod() == null) {
      all.add(new Condition(Rule.WITHOUT_LEADER, "", "No activator scales"
          + (now.leader.problem() == null ? "" : ": " + now.leader.problem())));
    }
    now.revisions.forEach(revision -> ofRevision(revision, all));
    now.rejects.forEach((outcome, count) -> {
      double rate = count / (RATE_MINUTES * 60.0);
      if (rate > REJECTS_PER_SECOND && !NOT_OURS.contains(outcome)) {
        all.add(new Condition(Rule.REJECTS, outcome.toString(), String.format(Locale.ROOT,
            "%.1f requests a second get no response from a pod: %s", rate, outcome)));
      }
    });
    now.unscalable.forEach((reason, count) -> all.add(new Condition(Rule.SCALE_WRITES_FAIL,
        reason, Html.count(count, "workload") + " cannot be scaled: " + reason)));
    if (now.saturation > SATURATION) {
      all.add(new Condition(Rule.SATURATED, "", "This activator is near the limit of its"
          + " processors, its memory or its event loops"));
    }
    var closed = now.api.watches().stream().filter(watch -> !watch.watching())
        .map(ApiState.Watched::resource).distinct().toList();
    if (!closed.isEmpty()) {
      all.add(new Condition(Rule.WITHOUT_NEWS, "",
          "This activator has no watch of " + String.join(", ", closed)));
    }
    return all;
  }

  private static void ofRevision(Load revision, List<Condition> to) {
    var id = revision.id.toString();
    if (revision.queued > 0 && revision.inFlight == 0) {
      to.add(new Condition(Rule.REQUESTS_HELD, id, "Requests for " + id + " wait, and none runs"));
    }
    // Most revisions have had no requests.
    if (revision.hour.isEmpty()) {
      return;
    }
    int requests = lastMinutes(revision.hour.of(Kind.REQUESTS));
    int errors = lastMinutes(revision.hour.of(Kind.ERRORS));
    if (requests > REQUESTS_PER_SECOND * RATE_MINUTES * 60 && errors > ERROR_RATIO * requests) {
      to.add(new Condition(Rule.ERRORS, id, Math.min(100, Math.round(100.0 * errors / requests))
          + " % of the requests for " + id + " fail"));
    }
  }

  private static int lastMinutes(int[] points) {
    int sum = 0;
    for (int i = points.length - RATE_MINUTES; i < points.length; i++) {
      sum += points[i];
    }
    return sum;
  }

  /** Sets the conditions that are true now. Remembers since when. */
  public void now(Inputs inputs) {
    now(conditions(inputs));
  }

  synchronized void now(List<Condition> conditions) {
    long nanos = nanoTime.getAsLong();
    var next = new HashMap<String, Since>();
    conditions.forEach(condition -> {
      var key = condition.rule + " " + condition.about;
      var before = since.get(key);
      next.put(key, new Since(condition, before == null ? nanos : before.nanos));
    });
    since.clear();
    since.putAll(next);
  }

  /** The alerts: those that are firing come first, then the more serious ones. */
  synchronized List<Alert> all() {
    long nanos = nanoTime.getAsLong();
    return since.values().stream()
        .sorted(Comparator.comparing((Since one) -> firesIn(one, nanos).isPositive())
            .thenComparing(one -> one.condition.rule).thenComparing(one -> one.condition.about))
        .map(one -> new Alert(one.condition.rule.alert, one.condition.text,
            one.condition.rule.critical, firesIn(one, nanos)))
        .toList();
  }

  private static Duration firesIn(Since one, long nowNanos) {
    var left = one.condition.rule.after.minusNanos(nowNanos - one.nanos);
    return left.isNegative() ? Duration.ZERO : left;
  }
}
