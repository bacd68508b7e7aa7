package dev.activator.standalone.autoscaler;

import dev.activator.standalone.autoscaler.Autoscaler.Term;
import dev.activator.revision.ScalingView.Trouble;
import dev.activator.standalone.autoscaler.policy.ScaleRetries;
import dev.activator.standalone.autoscaler.policy.ScaleTaskState;
import dev.activator.standalone.autoscaler.policy.ScaleTaskState.Action;
import dev.activator.standalone.autoscaler.policy.ScaleTaskState.Event;
import dev.activator.standalone.autoscaler.policy.ScaleTaskState.Limits;
import dev.activator.standalone.autoscaler.policy.ScaleTaskState.Phase;
import dev.activator.standalone.autoscaler.policy.ScaleTaskState.ZeroPermission;
import dev.activator.standalone.autoscaler.policy.ScaleWritePlanner;
import dev.activator.standalone.autoscaler.policy.ScaleWritePlanner.Change;
import dev.activator.standalone.autoscaler.policy.ScaleWritePlanner.Plan;
import dev.activator.loop.ResettableTimer;
import dev.activator.loop.policy.Backoff;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleTarget;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the scale of one workload to what is wanted, for one term. It sends one API request at a
 * time; changes that arrive meanwhile are handled afterwards. Before a write of a scale above zero it
 * is read; before a write of fewer replicas, it is also confirmed that this activator still leads.
 *
 * <p><b>Threads.</b> The term's loop. Any thread may call {@link #scaledFromZero}.
 *
 * <p><b>Errors.</b> A refusal is an Event and the view's {@link Trouble}, and is retried as
 * {@link ScaleRetries} decides.
 */
final class ScaleTask {
  private static final Logger log = LoggerFactory.getLogger(ScaleTask.class);
  private static final Duration MIN_REREAD = Duration.ofSeconds(150);
  /** After a write of zero, whose object changes until its pods have ended. */
  private static final Duration FIRST_REREAD = Duration.ofSeconds(2);
  private static final String MAY_NOT_WRITE = "this activator may not write now";

  private final Term term;
  private final RevisionId id;
  private final ScaleTarget workload;
  private final ScaleWritePlanner planner;
  private final Wanted wanted;
  private final ResettableTimer steps;
  private final ScaleRetries retries;
  private ScaleTaskState state = ScaleTaskState.BEGIN;
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
  /** Whether the answer was requested, and the request has to be cancelled if the last pods stay. */
  private boolean isZeroRequested;
  private @Nullable Trouble trouble;
  private String note = "";
  /**
   * When this term scaled the workload from zero; empty if it did not, or has scaled it to zero
   * since.
   */
  private volatile OptionalLong fromZeroAt = OptionalLong.empty();
  private boolean notScalable;
  private boolean stopped;

  /** What the workload should have. Called on the loop. */
  interface Wanted {
    /** The number of ready pods. */
    int ready();

    /** Whether there are fewer ready pods than there should be. */
    boolean needsPods();

    /** How long its requests may go on until its last pods are removed; zero if they stay. */
    Duration drain();

    /** Decides again, because reports may have arrived. */
    void decide();

    /** The next write of a workload with this scale, by the last decision. */
    Plan plan(ScaleApiResult.Found scale);

    /** Records replicas that were read. */
    Change sees(int replicas);

    /** The reason of the next write. */
    String explanation();

    /** Called after each step, which may have changed the view. */
    void onStep();
  }

  ScaleTask(Term term, RevisionId id, ScaleTarget workload, ScaleWritePlanner planner,
      Wanted wanted) {
    this.term = term;
    this.id = id;
    this.workload = workload;
    this.planner = planner;
    this.wanted = wanted;
    this.retries = new ScaleRetries(term.random());
    this.steps = new ResettableTimer(term.loop(), this::step);
  }

  /** Stops writing. Completes when no request is under way. */
  CompletableFuture<Void> stop() {
    stopped = true;
    steps.cancel();
    return underWay == null || reading != null && reading.cancel()
        ? CompletableFuture.completedFuture(null)
        : underWay;
  }

  /** Ends the pauses after refusals. A trouble stays until a read shows that it is over. */
  void retryNow() {
    retries.reset();
    if (trouble != null) {
      reread();
    }
  }

  /** Reads the scale again before the next write, because another client may have changed it. */
  void reread() {
    state = state.on(new Event.Stale()).state();
  }

  /** Reads the scale again, unless it is being read, or was read within {@code age}. */
  void rereadIfOlderThan(Duration age) {
    if (state.phase() != Phase.READING && term.now() - readAt >= age.toNanos()) {
      reread();
    }
  }

  /** Reads the scale again if it has not been read for minutes. */
  void rereadIfOld() {
    rereadIfOlderThan(reread);
  }

  /** Moves a queued read before those of workloads that need no pods. */
  void prioritizeRead() {
    if (reading != null) {
      reading.prioritize();
    }
  }

  /** The scale as it was last read or written; null if it must be read. */
  ScaleApiResult.@Nullable Found scale() {
    return state.scale();
  }

  /** Whether there is nothing that may be scaled, as the last read has shown. */
  boolean isNotScalable() {
    return notScalable;
  }

  /** The present replicas while a write of another number is pending; empty if none is pending. */
  OptionalInt unwritten() {
    return state.unwritten();
  }

  @Nullable Trouble trouble() {
    return trouble;
  }

  /** Why the decision is not carried out; empty if it is. */
  String note() {
    return note;
  }

  /**
   * How long ago this term scaled the workload from zero; null if it did not. Any thread may call
   * this.
   */
  @Nullable Duration scaledFromZero() {
    var at = fromZeroAt;
    return at.isEmpty() ? null : Duration.ofNanos(term.now() - at.getAsLong());
  }

  /** Reads or writes the scale if it differs from the decision. */
  void step() {
    if (state.phase() != Phase.IDLE || stopped) {
      return;
    }
    long wait = retries.pause(term.now(), wanted.needsPods());
    var scale = state.scale();
    if (wait > 0) {
      steps.within(wait);
    } else if (scale == null) {
      due(OptionalInt.empty());
    } else {
      var write = planned(scale).write();
      if (isZeroRequested && !write.equals(OptionalInt.of(0))) {
        mayScaleToZero = null;
        isZeroRequested = false;
        if (scale.replicas() > 0) {
          term.scales().cancelScaleToZero(id, workload);
        }
      }
      due(write);
    }
    wanted.onStep();
  }

  private Plan planned(ScaleApiResult.Found found) {
    var plan = wanted.plan(found);
    note = plan.note();
    if (plan.again().isPresent()) {
      steps.within(Math.max(0, plan.again().getAsLong() - term.now()));
    }
    return plan;
  }

  private void due(OptionalInt write) {
    var step = state.on(new Event.Due(write, new Limits(term.guard().mayWrite(),
        retries.isWriteRefused(), retries.confirmationPause(term.now()), zeroPermission())));
    state = step.state();
    switch (step.action()) {
      case Action.None() -> {
      }
      case Action.ForgetFailures() -> {
        retries.reset();
        trouble = null;
      }
      case Action.Read() -> read();
      case Action.Wait(var nanos) -> steps.within(nanos);
      case Action.WaitUntilLeader() -> note = MAY_NOT_WRITE;
      case Action.RequestZero() -> {
        requestZero();
        due(write);
      }
      case Action.KeepLastPods() -> {
        mayScaleToZero = null;
        note = "its last pods stay until requests for them wait at the activators";
        retries.notConfirmed(term.now());
        steps.within(retries.confirmationPause(term.now()));
      }
      case Action.Confirm(var scale, var replicas) -> confirmAndWrite(scale, replicas);
      case Action.Write(var scale, var replicas) -> write(scale, replicas);
    }
  }

  private ZeroPermission zeroPermission() {
    var answer = mayScaleToZero;
    if (answer == null) {
      return ZeroPermission.NOT_REQUESTED;
    }
    if (!answer.isDone()) {
      return ZeroPermission.REQUESTED;
    }
    return answer.join() ? ZeroPermission.GRANTED : ZeroPermission.REFUSED;
  }

  /**
   * Requests that the last pods may be removed. The nodes' proxies may first have to learn that
   * requests to the Service go to activators.
   */
  private void requestZero() {
    var answer = term.scales().prepareScaleToZero(id, workload, wanted.drain())
        .exceptionally(failure -> {
          log.warn("{}: its last pods stay: {}", id, failure.toString());
          return false;
        });
    mayScaleToZero = answer;
    isZeroRequested = true;
    if (!answer.isDone()) {
      var _ = answer.whenComplete((_, _) -> term.loop().execute(this::step));
    }
  }

  private void read() {
    var read = term.reads().read(wanted.needsPods(),
        () -> term.scales().read(id, workload));
    reading = read;
    await(read.answer(), answer -> {
      switch (answer) {
        case ScaleApiResult.Found found -> wasRead(found);
        case ScaleApiResult.Undecided undecided -> {
          var found = undecided.with(wanted.ready());
          if (found.replicas() == 0) {
            // No client has set this, so none is overruled by a start.
            planner.wrote(0);
          }
          wasRead(found);
        }
        case ScaleApiResult.Refused refused -> {
          state = state.on(new Event.ReadRefused()).state();
          notScalable = switch (refused.reason()) {
            case NOT_FOUND, NOT_SCALABLE, FORBIDDEN, INVALID -> true;
            case CONFLICT, UNAVAILABLE, FAILED -> false;
          };
          retries.refusedRead(term.now(), refused, wanted.needsPods());
          refused(refused);
        }
      }
    });
  }

  private void wasRead(ScaleApiResult.Found found) {
    state = state.on(new Event.WasRead(found)).state();
    notScalable = false;
    var later = reread.multipliedBy(2);
    reread = later.compareTo(MIN_REREAD) < 0 ? later : Backoff.longer(MIN_REREAD, 1, term.random());
    readAt = term.now();
    retries.read();
    if (!retries.isWriteRefused()) {
      trouble = null;
    }
    changedByOther(wanted.sees(found.replicas()), found.replicas());
  }

  private void changedByOther(Change change, int replicas) {
    switch (change) {
      case NONE -> {
      }
      case SET -> happenedByOther("ScaledByOther", other -> workload + " was scaled to " + replicas
          + " by " + other + "; that stays until there is a new reason");
      case ENDED -> happened(true, "HpaEndsUsedPods", workload
          + " was scaled to 0 while requests wait"
          + " or run, and goes to 1 again: the metric of its HPA does not count them, or is late");
      case WOKEN -> happenedByOther("WokenByOther", other -> workload + " was scaled from 0 to "
          + replicas + " by " + other + ", and goes back to 0 after the window; leave replicas out"
          + " of manifests that are applied repeatedly");
    }
  }

  private void happenedByOther(String reason, UnaryOperator<String> message) {
    var _ = term.scales().managerOfReplicas(id, workload)
        .thenAccept(name -> term.loop().execute(() -> happened(true, reason,
            message.apply(name.isEmpty() ? "another client" : "the client " + name))));
  }

  private void confirmAndWrite(ScaleApiResult.Found found, int replicas) {
    mayScaleToZero = null;
    await(replicas == 0 ? term.guard().confirmed() : confirmedWhenPrepared(), confirmed -> {
      // Reports may have arrived in the meantime.
      wanted.decide();
      var plan = planned(found);
      if (!confirmed) {
        retries.notConfirmed(term.now());
        return;
      }
      retries.confirmed();
      if (!stopped && plan.write().equals(OptionalInt.of(replicas))) {
        writeConfirmed(found, replicas);
      } else if (replicas == 0) {
        isZeroRequested = false;
        term.scales().cancelScaleToZero(id, workload);
      }
    });
  }

  private CompletableFuture<Boolean> confirmedWhenPrepared() {
    var prepared = term.scales().prepareScaleDown(id);
    return prepared.isDone()
        ? term.guard().confirmed()
        : prepared.thenComposeAsync(_ -> term.guard().confirmed(), term.loop());
  }

  private void writeConfirmed(ScaleApiResult.Found found, int replicas) {
    if (term.guard().mayWrite()) {
      state = state.on(new Event.Confirmed()).state();
      write(found, replicas);
    } else {
      note = MAY_NOT_WRITE;
    }
  }

  private void write(ScaleApiResult.Found found, int replicas) {
    String why = wanted.explanation();
    long begun = term.now();
    await(term.scales().write(id, workload, found, replicas), answer -> {
      switch (answer) {
        case ScaleApiResult.Found written when written.replicas() != replicas -> {
          planner.wrote(written.replicas());
          refusedWrite(written.replicas(), new ScaleApiResult.Refused(ScaleApiResult.Reason.INVALID,
              "the Kubernetes API stored " + written.replicas() + " replicas of "
                  + workload + " instead of " + replicas
                  + ": an admission webhook may limit them"));
        }
        case ScaleApiResult.Found written -> {
          state = state.on(new Event.Written(written)).state();
          readAt = term.now();
          retries.reset();
          trouble = null;
          planner.wrote(written.replicas());
          if (replicas == 0) {
            reread = FIRST_REREAD;
          }
          if (found.replicas() == 0 || replicas == 0) {
            fromZeroAt = replicas == 0 ? OptionalLong.empty() : OptionalLong.of(readAt);
          }
          log.info("{} goes from {} to {} replicas: {}", id, found.replicas(), replicas, why);
          var change = term.scales().change(id, workload, found.replicas(), replicas);
          if (found.replicas() == 0) {
            term.listener().woken(change.method(), Duration.ofNanos(readAt - begun));
          }
          happened(false, change.reason(), workload + " " + change.text() + ": " + why);
        }
        case ScaleApiResult.Undecided _ -> throw new IllegalStateException(
            workload + " was written, and is neither running nor stopped");
        case ScaleApiResult.Refused refused -> {
          if (refused.reason() == ScaleApiResult.Reason.UNAVAILABLE
              || refused.reason() == ScaleApiResult.Reason.FAILED) {
            planner.mayHaveWritten(replicas);
          }
          refusedWrite(found.replicas(), refused);
        }
      }
    });
  }

  private void refusedWrite(int present, ScaleApiResult.Refused refused) {
    state = state.on(new Event.WriteRefused(present)).state();
    retries.refusedWrite(term.now(), refused, wanted.needsPods());
    refused(refused);
  }

  private void refused(ScaleApiResult.Refused refused) {
    // The answer is valid only for some time, so it is requested again.
    mayScaleToZero = null;
    var reason = switch (refused.reason()) {
      case CONFLICT -> null;
      case NOT_FOUND -> "TargetNotFound";
      case NOT_SCALABLE -> "TargetNotScalable";
      case FORBIDDEN -> "Forbidden";
      case INVALID, UNAVAILABLE, FAILED -> "ScaleFailed";
    };
    if (reason != null && (trouble == null || !trouble.message().equals(refused.message()))) {
      trouble = new Trouble(reason, refused.message());
      log.warn("{} cannot be scaled: {}", id, refused.message());
      happened(true, reason, refused.message());
    }
  }

  private <T> void await(CompletableFuture<T> answer, Consumer<T> then) {
    var done = new CompletableFuture<Void>();
    underWay = done;
    // This does not run in a dependent future, which would swallow exceptions. The loop logs them.
    var _ = answer.whenComplete((value, failure) -> term.loop().execute(() -> {
      state = state.on(new Event.Ended()).state();
      underWay = null;
      reading = null;
      try {
        if (failure != null) {
          reread();
          throw new IllegalStateException("a failure must be returned as a result", failure);
        }
        then.accept(value);
        step();
      } finally {
        done.complete(null);
      }
    }));
  }

  private void happened(boolean warning, String reason, String message) {
    term.listener().happened(id, warning, reason, message);
  }
}
