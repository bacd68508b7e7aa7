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
   * The scale is read again after this time while no pod is ready, as another client may have
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
  /** Null unless pods are kept by the history, or it is observed. */
  private @Nullable IdleHistory history;
  /** Whether the history keeps a pod now. */
  private boolean keptWarm;
  /** Empty before the first of this term. */
  private OptionalLong lastDemand = OptionalLong.empty();
  private ScalingSettings settings;
  private ScaleDecision decision;
  private int ready;
  /** The scale as it was last read or written; null if it must be read. */
  private ScaleApiResult.@Nullable Found scale;
  /** Whether the scale was just read, so that it may be written. */
  private boolean fresh;
  /** The present replicas while another number is to be written; empty if nothing is to be written. */
  private OptionalInt unwritten = OptionalInt.empty();
  private long readAt;
  /** When the scale is read again; random, since a new leader reads all workloads together. */
  private Duration reread = MIN_REREAD;
  /** The read that waits or is under way; null if there is none. */
  private ScaleReadQueue.@Nullable Read reading;
  private @Nullable CompletableFuture<Void> underWay;
  /**
   * Whether the last pods may go; null while they need not. The answer may take seconds, and other
   * writes continue.
   */
  private @Nullable CompletableFuture<Boolean> goesToZero;
  private @Nullable Trouble trouble;
  private String note = "";
  private @Nullable ScalingView published;
  private volatile @Nullable ScalingView lastView;
  private long publishedAt;
  /** When this term scaled the workload from zero; empty if it did not, or has written zero since. */
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
    // A window that is open already is no reason to change what another client has set.
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
   * Stops writing, and publishes what has changed; done when no request is under way.
   *
   * @param isLatest whether no scaler of a later term has published; called when it is done
   */
  CompletableFuture<Void> finish(BooleanSupplier isLatest) {
    return stop().thenRun(() -> {
      if (isLatest.getAsBoolean()) {
        announce();
      }
    });
  }

  /** Stops writing; done when no request is under way. */
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
      rebounded();
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
        reading.hurry();
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
    repeat();
    decision = decider.decide(term.now(), ready, settings());
  }

  /** Counts silent activators with their last report. */
  void repeat() {
    decider.repeat(term.now(), term.roster(), settings());
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
        : term.roster().missing(now, settings.windows().stable(), configured.requestTimeout());
    // Also one that begins in the middle of a term knows the load of a window only after one.
    boolean mayShrink = settings.regime() == Regime.ALONE
        || missing.isEmpty() && now - begunAt >= settings.windows().stable().toNanos();
    var plan = planner.plan(now, new Situation(decision, found.replicas(), ready,
        mayShrink, term.roster().isQuiet(now, id)), settings);
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
    if (goesToZero != null && !plan.write().equals(OptionalInt.of(0))) {
      goesToZero = null;
      if (found.replicas() > 0) {
        term.scales().staysUp(id);
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
    if (replicas == 0 && !mayGoToZero()) {
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

  /** Fewer replicas may have to wait, and so may what was refused; more are there before a crash could come. */
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
   * Whether the last pods may go. The Service's proxies may first have to learn where requests go
   * then.
   */
  private boolean mayGoToZero() {
    var answer = goesToZero;
    if (answer == null) {
      answer = term.scales().goesToZero(id).exceptionally(failure -> {
        log.warn("{}: its last pods stay: {}", id, failure.toString());
        return false;
      });
      goesToZero = answer;
      if (!answer.isDone()) {
        var _ = answer.whenComplete((_, _) -> term.loop().execute(this::step));
      }
    }
    if (!answer.isDone()) {
      return false;
    }
    if (!answer.join()) {
      goesToZero = null;
      note = "its last pods stay until requests to its Service reach the activators";
      retries.notConfirmed(term.now());
      steps.within(retries.confirmationPause(term.now()));
      return false;
    }
    return true;
  }

  private void confirmAndWrite(ScaleApiResult.Found found, int replicas) {
    goesToZero = null;
    await(term.guard().confirmed(), confirmed -> {
      // Reports may have arrived meanwhile.
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
        term.scales().staysUp(id);
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
    // Requested again, as the answer holds only for some time.
    goesToZero = null;
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
    // Not in a dependent future: it would swallow exceptions, which the loop logs.
    var _ = answer.whenComplete((value, failure) -> term.loop().execute(() -> {
      underWay = null;
      reading = null;
      try {
        if (failure != null) {
          throw new IllegalStateException("an answer must not be a failure", failure);
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
      rebounded();
    }
    var keepWarm = configured.warmTimes().keepWarm();
    var range = history == null ? null : history.range();
    keptWarm = range != null && keepWarm != null && !keepWarm.observeOnly()
        && lastDemand.isPresent()
        && range.contains(Duration.ofNanos(term.now() - lastDemand.getAsLong()));
    int min = Math.max(scheduledReplicas(), keptWarm ? 1 : 0);
    settings = min == 0 ? configured.settings() : configured.settings().withMin(min);
  }

  /** Read again: another client, such as an HPA that is gone, may have changed the scale since. */
  private void rebounded() {
    planner.rebounded();
    scale = null;
  }

  private WarmSchedule.@Nullable Window windowNow() {
    var schedule = configured.warmTimes().schedule();
    return schedule == null ? null : schedule.at(term.wall().instant());
  }

  private int scheduledReplicas() {
    return scheduled == null ? 0 : scheduled.minReplicas();
  }

  /** Updates the history. What was learnt with another maximum is dropped. */
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
        : ", kept warm since requests came after such a time without any before; ";
  }

  private void publish() {
    if (isKnown()) {
      lastView = view(planner.desired());
      announce();
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

  /** Whether the API has answered once. Another step follows that answer. */
  private boolean isKnown() {
    return published != null || scale != null || trouble != null;
  }

  private void announce() {
    // A value that is not written yet may never be. The next leader would think that another client
    // had set the replicas that it finds.
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
