package dev.activator.autoscaler;

import dev.activator.autoscaler.Autoscaler.Configured;
import dev.activator.autoscaler.Autoscaler.Term;
import dev.activator.autoscaler.ScalingView.Trouble;
import dev.activator.autoscaler.policy.ScaleDecider;
import dev.activator.autoscaler.policy.ScaleDecision;
import dev.activator.autoscaler.policy.IdleHistory;
import dev.activator.autoscaler.policy.ScaleWritePlanner;
import dev.activator.autoscaler.policy.ScaleWritePlanner.Plan;
import dev.activator.autoscaler.policy.ScaleWritePlanner.Situation;
import dev.activator.autoscaler.policy.LoadSample;
import dev.activator.autoscaler.policy.ScaleRetries;
import dev.activator.autoscaler.policy.ScalingSettings;
import dev.activator.autoscaler.policy.ScalingSettings.Regime;
import dev.activator.loop.policy.Backoff;
import dev.activator.loop.ResettableTimer;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.WarmSchedule;
import dev.activator.revision.KeepWarmSettings;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scales one workload for one term. It sends one API request at a time; changes that arrive meanwhile are
 * handled afterwards.
 *
 * <p><b>Threads.</b> The term's loop.
 */
final class TargetScaler {
  private static final Logger log = LoggerFactory.getLogger(TargetScaler.class);
  private static final Duration TICK = Duration.ofSeconds(2);
  private static final Duration MIN_REREAD = Duration.ofSeconds(150);
  /**
   * While no pod is ready, the scale is read again after this time, because another client may have
   * scaled to zero.
   */
  private static final Duration REREAD_WITHOUT_PODS = Duration.ofSeconds(1);
  private static final Duration PUBLISHED_EVERY = Duration.ofSeconds(1);

  private final Term term;
  private final RevisionId id;
  private final ResettableTimer ticks;
  private final ResettableTimer steps;
  private final ResettableTimer publishing;
  private final ScaleDecider decider;
  private final ScaleWritePlanner planner;
  private final ScaleRetries retries;
  private final long begunAt;
  private Configured configured;
  /** The window of its schedule that is open now; null if none is. */
  private WarmSchedule.@Nullable Window scheduled;
  /** The history of idle times; null if pods are not kept by it, and it is not observed either. */
  private @Nullable IdleHistory history;
  /** Whether the history keeps a pod now. */
  private boolean keptWarm;
  /** When the last request arrived, waited or ran; empty before the first one of this term. */
  private OptionalLong lastDemand = OptionalLong.empty();
  private ScalingSettings settings;
  private ScaleDecision decision;
  private int ready;
  /** The scale as it was last read or written; null if it must be read. */
  private ScaleApiResult.@Nullable Found scale;
  /** Whether the scale was just read. It is written only after a fresh read. */
  private boolean fresh;
  /** The present replicas while a write of another number is pending; empty if none is pending. */
  private OptionalInt unwritten = OptionalInt.empty();
  private long readAt;
  /** When the scale is read again; random, since a new leader reads all workloads together. */
  private Duration reread = MIN_REREAD;
  /** The read that is queued or under way; null if there is none. */
  private ScaleReadQueue.@Nullable Read reading;
  private @Nullable CompletableFuture<Void> underWay;
  /**
   * The answer whether the last pods may be removed; null while they should stay. It may take
   * seconds, during which other writes continue.
   */
  private @Nullable CompletableFuture<Boolean> mayScaleToZero;
  private @Nullable Trouble trouble;
  private String note = "";
  private @Nullable ScalingView published;
  private volatile @Nullable ScalingView lastView;
  private long publishedAt;
  /**
   * When this term scaled the workload from zero; empty if it did not, or has scaled it to zero
   * since.
   */
  private volatile OptionalLong fromZeroAt = OptionalLong.empty();
  private boolean stopped;

  TargetScaler(Term term, RevisionId id, Configured configured, int ready) {
    this.term = term;
    this.id = id;
    this.configured = configured;
    this.ready = ready;
    this.retries = new ScaleRetries(term.random());
    this.begunAt = term.now();
    this.ticks = new ResettableTimer(term.loop(), this::tick);
    this.steps = new ResettableTimer(term.loop(), this::step);
    this.publishing = new ResettableTimer(term.loop(), this::publish);
    this.settings = configured.settings();
    this.planner = new ScaleWritePlanner(term.now(), configured.lastDesired());
    updateHistory(null);
    // A window that is already open does not override replicas that another client has set.
    this.scheduled = windowNow();
    updateMinimum();
    // In other regimes the current scale stays until all activators have reported.
    int known = settings.regime() == Regime.ALONE ? ready : 0;
    this.decider = new ScaleDecider(term.now(), known, settings.windows());
    this.decision = decider.decide(term.now(), ready, settings);
  }

  void start() {
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
        notifyIfChanged();
      }
    });
  }

  /** Stops writing. Completes when no request is under way. */
  CompletableFuture<Void> stop() {
    stopped = true;
    ticks.cancel();
    steps.cancel();
    publishing.cancel();
    return underWay == null || reading != null && reading.cancel()
        ? CompletableFuture.completedFuture(null)
        : underWay;
  }

  void configured(Configured next) {
    var before = configured;
    configured = next;
    if (!next.settings().bounds().equals(before.settings().bounds())) {
      boundsChanged();
    }
    updateHistory(before.warmTimes());
    updateMinimum();
    decider.resize(term.now(), next.settings().windows());
    retries.reset();
    trouble = null;
    evaluate();
  }

  void pods(int nowReady) {
    boolean external = scale != null
        && (nowReady > scale.replicas() || nowReady < ready && nowReady < scale.replicas());
    ready = nowReady;
    if (external) {
      scale = null;
    }
    step();
  }

  void reported(LoadSample sample) {
    long now = term.now();
    decider.record(now, sample, settings());
    if (sample.isDemand()) {
      demanded(now, sample.concurrency() > 0);
    }
    if (sample.concurrency() > 0 && (decision.pods() == 0 || ready == 0)) {
      rereadIfOlderThan(REREAD_WITHOUT_PODS);
      if (reading != null) {
        reading.prioritize();
      }
      evaluate();
    }
  }

  private void tick() {
    ticks.within(TICK);
    updateMinimum();
    rereadIfOlderThan(settings().regime() == Regime.ALONE ? Duration.ZERO : reread);
    evaluate();
  }

  private void rereadIfOlderThan(Duration age) {
    if (term.now() - readAt >= age.toNanos()) {
      scale = null;
    }
  }

  private void evaluate() {
    decide();
    step();
  }

  private void decide() {
    repeatLastReports();
    decision = decider.decide(term.now(), ready, settings());
  }

  /** Counts the last reports of silent activators again. */
  void repeatLastReports() {
    decider.repeatLastReports(term.now(), term.activators(), settings());
  }

  /** Compares the scale with the decision, and reads or writes it if they differ. */
  private void step() {
    if (underWay != null || stopped) {
      return;
    }
    long wait = retries.pause(term.now(), needsPods());
    if (wait > 0) {
      steps.within(wait);
    } else if (scale == null) {
      read();
    } else {
      carryOut(plan(scale), scale);
    }
    publishing.within(published == null
        ? 0
        : Math.max(0, publishedAt + PUBLISHED_EVERY.toNanos() - term.now()));
  }

  private boolean needsPods() {
    return planner.bounded(decision, settings()) > ready;
  }

  private Plan plan(ScaleApiResult.Found found) {
    long now = term.now();
    var settings = settings();
    var missing = settings.regime() == Regime.ALONE
        ? List.<String>of()
        : term.activators().missing(now, settings.windows().stable(), configured.requestTimeout());
    // A scaler that begins in the middle of a term also needs a whole window to know the load.
    boolean mayShrink = settings.regime() == Regime.ALONE
        || missing.isEmpty() && now - begunAt >= settings.windows().stable().toNanos();
    var plan = planner.plan(now, new Situation(decision, found.replicas(), ready,
        mayShrink, term.activators().isQuiet(now, id)), settings);
    note = plan.note();
    if (!note.isEmpty() && !missing.isEmpty()) {
      note += "; no reports for long enough from " + String.join(", ", missing);
    }
    if (plan.again().isPresent()) {
      steps.within(Math.max(0, plan.again().getAsLong() - now));
    }
    return plan;
  }

  private void carryOut(Plan plan, ScaleApiResult.Found found) {
    boolean wasFresh = fresh;
    fresh = false;
    unwritten = isWrittenAtOnce(plan, found)
        ? OptionalInt.empty()
        : OptionalInt.of(found.replicas());
    if (mayScaleToZero != null && !plan.write().equals(OptionalInt.of(0))) {
      mayScaleToZero = null;
      if (found.replicas() > 0) {
        term.scales().cancelScaleToZero(id);
      }
    }
    if (plan.write().isEmpty()) {
      if (wasFresh) {
        retries.reset();
        trouble = null;
      }
      return;
    }
    int replicas = plan.write().getAsInt();
    boolean shrinks = replicas < found.replicas();
    long wait = shrinks ? retries.confirmationPause(term.now()) : 0;
    if (wait > 0) {
      steps.within(wait);
      return;
    }
    if (!term.guard().mayWrite()) {
      note = "this activator may not write now";
      return;
    }
    if (replicas == 0 && !isReadyForZero()) {
      return;
    }
    if (!wasFresh) {
      read();
    } else if (shrinks) {
      confirmAndWrite(found, replicas);
    } else {
      write(found, replicas);
    }
  }

  /**
   * Whether a write is sent at once, so that the desired number may be published before it. A write
   * of fewer replicas may have to wait, and so may one after a refusal.
   */
  private boolean isWrittenAtOnce(Plan plan, ScaleApiResult.Found found) {
    return plan.write().isEmpty() || plan.write().getAsInt() > found.replicas()
        && !retries.isWriteRefused() && term.guard().mayWrite();
  }

  private void read() {
    var read = term.reads().read(needsPods(),
        () -> term.scales().read(id, configured.workload()));
    reading = read;
    await(read.answer(), answer -> {
      switch (answer) {
        case ScaleApiResult.Found found -> {
          scale = found;
          fresh = true;
          reread = Backoff.longer(MIN_REREAD, 1, term.random());
          readAt = term.now();
          retries.read();
          if (!retries.isWriteRefused()) {
            trouble = null;
          }
          if (planner.sees(found.replicas(), decision, settings())) {
            happened(true, "ScaledByOther", configured.workload() + " was scaled to "
                + found.replicas() + " by another client; that stays until there is a new reason");
          }
        }
        case ScaleApiResult.Refused refused -> {
          retries.refusedRead(term.now(), refused, needsPods());
          refused(refused);
        }
      }
    });
  }

  /**
   * Whether the last pods may be removed. The nodes' proxies may first have to learn that requests
   * to the Service go to activators.
   */
  private boolean isReadyForZero() {
    var answer = mayScaleToZero;
    if (answer == null) {
      answer = term.scales().prepareScaleToZero(id).exceptionally(failure -> {
        log.warn("{}: its last pods stay: {}", id, failure.toString());
        return false;
      });
      mayScaleToZero = answer;
      if (!answer.isDone()) {
        var _ = answer.whenComplete((_, _) -> term.loop().execute(this::step));
      }
    }
    if (!answer.isDone()) {
      return false;
    }
    if (!answer.join()) {
      mayScaleToZero = null;
      note = "its last pods stay until requests to its Service reach the activators";
      retries.notConfirmed(term.now());
      steps.within(retries.confirmationPause(term.now()));
      return false;
    }
    return true;
  }

  private void confirmAndWrite(ScaleApiResult.Found found, int replicas) {
    mayScaleToZero = null;
    await(term.guard().confirmed(), confirmed -> {
      // Reports may have arrived in the meantime.
      decide();
      var plan = plan(found);
      if (!confirmed) {
        retries.notConfirmed(term.now());
        return;
      }
      retries.confirmed();
      if (!stopped && plan.write().equals(OptionalInt.of(replicas))) {
        write(found, replicas);
      } else if (replicas == 0) {
        term.scales().cancelScaleToZero(id);
      }
    });
  }

  private void write(ScaleApiResult.Found found, int replicas) {
    if (!term.guard().mayWrite()) {
      note = "this activator may not write now";
      return;
    }
    String why = explanation();
    await(term.scales().write(id, configured.workload(), found, replicas), answer -> {
      switch (answer) {
        case ScaleApiResult.Found written when written.replicas() != replicas -> {
          planner.wrote(written.replicas());
          unwritten = OptionalInt.of(written.replicas());
          refusedWrite(new ScaleApiResult.Refused(ScaleApiResult.Reason.INVALID,
              "the Kubernetes API stored " + written.replicas() + " replicas of "
                  + configured.workload() + " instead of " + replicas
                  + ": an admission webhook may limit them"));
        }
        case ScaleApiResult.Found written -> {
          scale = written;
          unwritten = OptionalInt.empty();
          readAt = term.now();
          retries.reset();
          trouble = null;
          planner.wrote(written.replicas());
          if (found.replicas() == 0 || replicas == 0) {
            fromZeroAt = replicas == 0 ? OptionalLong.empty() : OptionalLong.of(readAt);
          }
          log.info("{} goes from {} to {} replicas: {}", id, found.replicas(), replicas, why);
          happened(false, reason(found.replicas(), replicas), configured.workload()
              + " goes from " + found.replicas() + " to " + replicas + ": " + why);
        }
        case ScaleApiResult.Refused refused -> {
          if (refused.reason() == ScaleApiResult.Reason.UNAVAILABLE) {
            planner.mayHaveWritten(replicas);
          }
          unwritten = OptionalInt.of(found.replicas());
          refusedWrite(refused);
        }
      }
    });
  }

  private void refusedWrite(ScaleApiResult.Refused refused) {
    retries.refusedWrite(term.now(), refused, needsPods());
    refused(refused);
  }

  private void refused(ScaleApiResult.Refused refused) {
    scale = null;
    fresh = false;
    // The answer is valid only for some time, so it is requested again.
    mayScaleToZero = null;
    var reason = switch (refused.reason()) {
      case CONFLICT -> null;
      case NOT_FOUND -> "TargetNotFound";
      case NOT_SCALABLE -> "TargetNotScalable";
      case FORBIDDEN -> "Forbidden";
      case INVALID, UNAVAILABLE -> "ScaleFailed";
    };
    if (reason != null && (trouble == null || !trouble.message().equals(refused.message()))) {
      trouble = new Trouble(reason, refused.message());
      log.warn("{} cannot be scaled: {}", id, refused.message());
      happened(true, reason, refused.message());
    }
  }

  private static String reason(int from, int to) {
    return to == 0 ? "ScaledToZero" : to > from ? "ScaledUp" : "ScaledDown";
  }

  private <T> void await(CompletableFuture<T> answer, Consumer<T> then) {
    var done = new CompletableFuture<Void>();
    underWay = done;
    // This does not run in a dependent future, which would swallow exceptions. The loop logs them.
    var _ = answer.whenComplete((value, failure) -> term.loop().execute(() -> {
      underWay = null;
      reading = null;
      try {
        if (failure != null) {
          throw new IllegalStateException("a failure must be returned as a result", failure);
        }
        then.accept(value);
        step();
      } finally {
        done.complete(null);
      }
    }));
  }

  /** The settings, with the minimum of the schedule and the history as of the last tick. */
  private ScalingSettings settings() {
    return settings;
  }

  private void updateMinimum() {
    int before = scheduledReplicas();
    scheduled = windowNow();
    if (scheduledReplicas() > before) {
      boundsChanged();
    }
    var keepWarm = configured.warmTimes().keepWarm();
    var range = history == null ? null : history.range();
    keptWarm = range != null && keepWarm != null && !keepWarm.observeOnly()
        && lastDemand.isPresent()
        && range.contains(Duration.ofNanos(term.now() - lastDemand.getAsLong()));
    int min = Math.max(scheduledReplicas(), keptWarm ? 1 : 0);
    settings = min == 0 ? configured.settings() : configured.settings().withMin(min);
  }

  /**
   * Handles changed bounds. The scale is read again, because another client, such as a deleted HPA,
   * may have changed it.
   */
  private void boundsChanged() {
    planner.boundsChanged();
    scale = null;
  }

  private WarmSchedule.@Nullable Window windowNow() {
    var schedule = configured.warmTimes().schedule();
    return schedule == null ? null : schedule.at(term.wall().instant());
  }

  private int scheduledReplicas() {
    return scheduled == null ? 0 : scheduled.minReplicas();
  }

  /** Updates the history. A history with another maximum is dropped. */
  private void updateHistory(@Nullable KeepWarmSettings before) {
    var keepWarm = configured.warmTimes().keepWarm();
    var known = before == null ? null : before.keepWarm();
    if (keepWarm == null) {
      history = null;
    } else if (known == null || !known.max().equals(keepWarm.max())) {
      history = new IdleHistory(keepWarm.max());
    }
  }

  private void demanded(long now, boolean waitsOrRuns) {
    if (history != null && lastDemand.isPresent()) {
      history.ended(Duration.ofNanos(now - lastDemand.getAsLong()),
          configured.settings().windows().stable());
    }
    lastDemand = OptionalLong.of(now);
    planner.demanded(now, waitsOrRuns);
  }

  private void happened(boolean warning, String reason, String message) {
    term.listener().happened(id, warning, reason, message);
  }

  private String explanation() {
    if (!note.isEmpty()) {
      return note + "; otherwise " + decision.cause();
    }
    var desired = planner.desired();
    String bound = desired.isPresent() && desired.getAsInt() != decision.pods()
        ? desired.getAsInt() + boundText()
        : "";
    return bound + decision.cause();
  }

  private boolean isObserved() {
    var keepWarm = configured.warmTimes().keepWarm();
    return keepWarm != null && keepWarm.observeOnly();
  }

  private String boundText() {
    if (settings.bounds().min() == configured.settings().bounds().min()) {
      return " within its bounds; ";
    }
    return scheduled != null
        ? ", the minimum of its schedule (" + scheduled + "); "
        : ", kept warm because earlier requests came after a similar idle time; ";
  }

  private void publish() {
    if (isKnown()) {
      lastView = view(planner.desired());
      notifyIfChanged();
    }
  }

  /** The last view, at most a second old; null before the first. Any thread may call this. */
  @Nullable ScalingView lastView() {
    return lastView;
  }

  /**
   * How long ago this term scaled the workload from zero; null if it did not. Any thread may call
   * this.
   */
  @Nullable Duration scaledFromZero() {
    var at = fromZeroAt;
    return at.isEmpty() ? null : Duration.ofNanos(term.now() - at.getAsLong());
  }

  /** Whether the API has answered at least once. */
  private boolean isKnown() {
    return published != null || scale != null || trouble != null;
  }

  private void notifyIfChanged() {
    // The desired replicas are not published before they are written, because the write may never
    // happen. The next leader would then think that another client had set the replicas.
    var view = view(unwritten.isPresent() ? unwritten : planner.desired());
    if (isKnown() && (published == null || !published.equalsButExplanation(view))) {
      published = view;
      publishedAt = term.now();
      term.listener().changed(view);
    }
  }

  private ScalingView view(OptionalInt desired) {
    var known = scale;
    return new ScalingView(id, configured.workload(), desired,
        known == null ? OptionalInt.empty() : OptionalInt.of(known.replicas()),
        known == null ? OptionalInt.empty() : OptionalInt.of(known.current()), ready,
        planner.activity(), explanation(), trouble, note,
        history == null ? null : history.view(isObserved()));
  }
}
