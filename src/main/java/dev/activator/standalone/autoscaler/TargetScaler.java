package dev.activator.standalone.autoscaler;

import dev.activator.revision.ScalingView.ScaleState;
import dev.activator.revision.ScalingView;
import dev.activator.standalone.autoscaler.Autoscaler.Configured;
import dev.activator.standalone.autoscaler.Autoscaler.Term;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.On;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Phase;
import dev.activator.standalone.autoscaler.policy.ConflictArbiter.Seen;
import dev.activator.standalone.autoscaler.policy.ScaleDecider;
import dev.activator.standalone.autoscaler.policy.ScaleDecision;
import dev.activator.standalone.autoscaler.policy.ScaleWritePlanner;
import dev.activator.standalone.autoscaler.policy.ScaleWritePlanner.Plan;
import dev.activator.standalone.autoscaler.policy.ScaleWritePlanner.Situation;
import dev.activator.standalone.autoscaler.policy.LoadSample;
import dev.activator.standalone.autoscaler.policy.ScalingSettings;
import dev.activator.standalone.autoscaler.policy.ScalingSettings.Regime;
import dev.activator.standalone.autoscaler.policy.WarmMinimum;
import dev.activator.loop.ResettableTimer;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides how many replicas one workload has, for one term. Its {@link ScaleTask} carries that out,
 * and its {@link ScalingViewPublisher} publishes it.
 *
 * <p><b>Threads.</b> The term's loop.
 */
final class TargetScaler implements ScaleTask.Wanted {
  private static final Duration TICK = Duration.ofSeconds(2);
  /**
   * While no pod is ready, a scale above zero is read again after this time, because another client
   * may have scaled to zero.
   */
  private static final Duration REREAD_WITHOUT_PODS = Duration.ofSeconds(1);
  private static final Duration MIN_END_READ = Duration.ofMillis(10);
  /** The end of pods is noticed late by this part of the time that it takes. */
  private static final int END_READS_EACH = 20;

  /** How often what is prepared is up to date, where another autoscaler may remove pods at any time. */
  private static final Duration PREPARATION_PERIOD = Duration.ofMinutes(1);

  private final Term term;
  private final RevisionId id;
  private final ResettableTimer ticks;
  private final ResettableTimer endReads;
  private OptionalLong endingSince = OptionalLong.empty();
  private final ScalingViewPublisher publisher;
  private final WarmMinimum minimum;
  private final ScaleDecider decider;
  private final ScaleWritePlanner planner;
  private final ScaleTask task;
  private final long begunAt;
  private Configured configured;
  private ScaleDecision decision;
  /** What it may do beside the workloads that conflict with it. */
  private Phase phase = Phase.RUNNING;
  private int ready;
  private int present;
  /** The scale as it was last read or written; null before. */
  private ScaleApiResult.@Nullable Found lastRead;
  private long preparedAt;

  TargetScaler(Term term, RevisionId id, Configured configured, int ready, int present) {
    this.term = term;
    this.id = id;
    this.configured = configured;
    this.ready = ready;
    this.present = present;
    this.begunAt = term.now();
    this.preparedAt = begunAt;
    this.ticks = new ResettableTimer(term.loop(), this::tick);
    this.endReads = new ResettableTimer(term.loop(), this::readEnd);
    this.publisher = new ScalingViewPublisher(term, this::views);
    this.planner = new ScaleWritePlanner(term.now(), configured.lastDesired());
    this.task = new ScaleTask(term, id, configured.workload(), planner, this);
    // A window that is already open does not override replicas that another client has set.
    this.minimum = new WarmMinimum(configured.settings(), configured.warmTimes(), term.now(),
        term.wall().instant());
    var settings = settings();
    // In other regimes the current scale stays until all activators have reported.
    int known = settings.regime() == Regime.ALONE ? ready : 0;
    this.decider = new ScaleDecider(term.now(), known, settings.windows());
    this.decision = decision();
  }

  void start() {
    conflictsChanged();
    tick();
  }

  /**
   * Stops writing, then publishes the view if it has changed. Completes when no request is under
   * way.
   *
   * @param isLatest whether no scaler of a later term has published; called at the end
   */
  CompletableFuture<Void> finish(BooleanSupplier isLatest) {
    return stop().thenRun(() -> {
      if (isLatest.getAsBoolean()) {
        publisher.publish();
      }
    });
  }

  /** Stops writing. Completes when no request is under way. */
  CompletableFuture<Void> stop() {
    ticks.cancel();
    endReads.cancel();
    publisher.stop();
    return task.stop();
  }

  void configured(Configured next) {
    var before = configured;
    configured = next;
    if (!next.settings().bounds().equals(before.settings().bounds())) {
      boundsChanged();
    }
    minimum.updateSettings(next.settings(), next.warmTimes());
    updateMinimum();
    decider.resize(term.now(), next.settings().windows());
    task.retryNow();
    conflictsChanged();
    evaluate();
  }

  private void conflictsChanged() {
    term.conflicts().configured(id, configured.conflictSettings(), this::evaluate);
  }

  void pods(int nowReady, int nowPresent) {
    var scale = task.scale();
    boolean external = scale != null
        && (nowReady > scale.replicas() || nowReady < ready && nowReady < scale.replicas());
    ready = nowReady;
    present = nowPresent;
    // One that yields may have ended with its pods, if the scale has not shown that before.
    boolean mayHaveEnded = scale != null && phase == Phase.YIELDING && present == 0
        && scale.current() > 0;
    if (external || mayHaveEnded) {
      task.reread();
    }
    task.step();
  }

  void reported(LoadSample sample) {
    long now = term.now();
    decider.record(now, sample, settings());
    if (!configured.refusal().isEmpty()) {
      return;
    }
    if (sample.isDemand()) {
      minimum.onDemand(now);
      planner.demanded(now, sample.concurrency() > 0);
    }
    if (sample.concurrency() > 0 && (decision.pods() == 0 || ready == 0)) {
      var scale = task.scale();
      if (scale != null && scale.replicas() > 0) {
        task.rereadIfOlderThan(REREAD_WITHOUT_PODS);
      }
      task.prioritizeRead();
      evaluate();
    }
  }

  private void tick() {
    ticks.within(TICK);
    updateMinimum();
    if (settings().regime() == Regime.ALONE) {
      task.rereadIfOlderThan(Duration.ZERO);
    } else {
      task.rereadIfOld();
    }
    prepareForOthers();
    evaluate();
  }

  private void prepareForOthers() {
    if (settings().regime().isBesideAnother() && ready > 1
        && term.now() - preparedAt >= PREPARATION_PERIOD.toNanos()) {
      preparedAt = term.now();
      var _ = term.scales().prepareScaleDown(id);
    }
  }

  private void evaluate() {
    decide();
    task.step();
  }

  @Override
  public void decide() {
    repeatLastReports();
    decision = decision();
  }

  private ScaleDecision decision() {
    var byLoad = decider.decide(term.now(), ready, settings());
    var scale = task.scale();
    return configured.refusal().isEmpty()
        ? byLoad
        : byLoad.withoutStart(Math.max(ready, scale == null ? 0 : scale.replicas()),
            configured.refusal());
  }

  /** Counts the last reports of silent activators again. */
  void repeatLastReports() {
    decider.repeatLastReports(term.now(), term.activators(), settings());
  }

  @Override
  public int ready() {
    return ready;
  }

  /** Reads the scale of one that has to stop until it has none, since nothing reports that. */
  private void awaitEnd(long now, ScaleApiResult.Found found) {
    if (phase != Phase.YIELDING || found.replicas() > 0 || found.current() == 0) {
      endingSince = OptionalLong.empty();
      return;
    }
    if (endingSince.isEmpty()) {
      endingSince = OptionalLong.of(now);
    }
    endReads.within(Math.max(MIN_END_READ.toNanos(),
        (now - endingSince.getAsLong()) / END_READS_EACH));
  }

  private void readEnd() {
    task.rereadIfOlderThan(Duration.ZERO);
    task.step();
  }

  private void observed(Seen seen) {
    phase = term.conflicts().observed(id, seen);
  }

  private On on(ScaleApiResult.Found found) {
    if (found.replicas() > 0) {
      return configured.conflicts().wasStopping() ? On.DECIDED_OFF : On.ON;
    }
    return found.current() == 0 && present == 0 ? On.OFF : On.ENDING;
  }

  private boolean needsReplicas() {
    return planner.bounded(decision, settings()) > 0;
  }

  @Override
  public boolean needsPods() {
    return planner.bounded(decision, settings()) > ready;
  }

  @Override
  public Duration drain() {
    return phase == Phase.YIELDING ? configured.requestTimeout() : Duration.ZERO;
  }

  @Override
  public Plan plan(ScaleApiResult.Found found) {
    long now = term.now();
    var settings = settings();
    var missing = settings.regime() == Regime.ALONE
        ? List.<String>of()
        : term.activators().missing(now, settings.windows().stable(), configured.requestTimeout());
    // A scaler that begins in the middle of a term also needs a whole window to know the load.
    boolean mayShrink = settings.regime() == Regime.ALONE
        || missing.isEmpty() && now - begunAt >= settings.windows().stable().toNanos();
    boolean isQuiet = term.activators().isQuiet(now, id);
    var situation = new Situation(decision, found.replicas(), ready, mayShrink, isQuiet);
    observed(new Seen(on(found), ready > 0, needsReplicas(), !isQuiet));
    awaitEnd(now, found);
    if (phase == Phase.YIELDING) {
      return planner.stopping(now, situation, term.conflicts().reason(id));
    }
    if (phase != Phase.RUNNING && needsReplicas()) {
      return planner.waiting(now, term.conflicts().reason(id));
    }
    var plan = planner.plan(now, situation, settings);
    return plan.note().isEmpty() || missing.isEmpty()
        ? plan
        : new Plan(plan.write(), plan.again(), plan.note() + "; no reports for long enough from "
            + String.join(", ", missing));
  }

  @Override
  public ScaleWritePlanner.Change sees(int replicas) {
    return planner.sees(term.now(), replicas, decision, settings());
  }

  @Override
  public void onStep() {
    if (task.isNotScalable()) {
      // Without a scale there is no plan, and nothing to start for its requests.
      observed(new Seen(present == 0 ? On.OFF : On.ON, ready > 0, false, false));
    }
    lastRead = task.scale() == null ? lastRead : task.scale();
    publisher.schedule();
  }

  private ScalingSettings settings() {
    return minimum.settings();
  }

  private void updateMinimum() {
    if (minimum.update(term.now(), term.wall().instant())) {
      boundsChanged();
    }
  }

  /**
   * Handles changed bounds. The scale is read again, because another client, such as a deleted HPA,
   * may have changed it.
   */
  private void boundsChanged() {
    planner.boundsChanged();
    task.reread();
  }

  @Override
  public String explanation() {
    var note = task.note();
    if (!note.isEmpty()) {
      return note + "; otherwise " + decision.cause();
    }
    var desired = planner.desired();
    String bound = desired.isPresent() && desired.getAsInt() != decision.pods()
        ? desired.getAsInt() + minimum.boundText()
        : "";
    return bound + decision.cause();
  }

  /** The last view, at most a second old; null before the first. Any thread may call this. */
  @Nullable ScalingView lastView() {
    return publisher.lastView();
  }

  /**
   * How long ago this term scaled the workload from zero; null if it did not. Any thread may call
   * this.
   */
  @Nullable Duration scaledFromZero() {
    return task.scaledFromZero();
  }

  private ScalingViewPublisher.Views views() {
    var unwritten = task.unwritten();
    return new ScalingViewPublisher.Views(task.scale() != null || task.trouble() != null,
        view(planner.desired()), view(unwritten.isPresent() ? unwritten : planner.desired()));
  }

  private ScalingView view(OptionalInt desired) {
    var known = task.scale();
    return new ScalingView(id, configured.workload(), desired,
        known == null ? OptionalInt.empty() : OptionalInt.of(known.replicas()),
        known == null ? OptionalInt.empty() : OptionalInt.of(known.current()), ready,
        lastRead == null
            ? null
            : state(ScaleState.of(lastRead.replicas(), desired.orElse(0), ready, present)),
        planner.activity(), explanation(), task.trouble(), task.note(),
        minimum.history());
  }

  private ScaleState state(ScaleState alone) {
    return switch (phase) {
      case YIELDING -> ScaleState.STOPPING;
      case WAITING -> ScaleState.WAITING;
      case UNKNOWN, OFF, RUNNING -> alone;
    };
  }
}
