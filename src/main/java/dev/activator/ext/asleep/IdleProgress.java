package dev.activator.ext.asleep;

import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.ext.asleep.policy.IdleWorkloadState;
import dev.activator.ext.asleep.policy.IdleWorkloadState.Action;
import dev.activator.ext.asleep.policy.IdleWorkloadState.Event;
import dev.activator.ext.asleep.policy.IdleWorkloadState.StatusChange;
import dev.activator.platform.IdleMethod;
import dev.activator.platform.StatusField;
import dev.activator.platform.StatusField.Stored;
import dev.activator.revision.IdleState.Phase;
import dev.activator.revision.IdleState;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult.Refused;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far one workload is: its {@link IdleWorkloadState}, which is stored in its ScaledService's status as
 * far as a later leader has to know it.
 *
 * <p><b>Threads.</b> The autoscaler's loop.
 */
final class IdleProgress {
  private static final Logger log = LoggerFactory.getLogger(IdleProgress.class);

  private final RevisionId id;
  private final IdleMethod.Environment environment;
  private final StatusField<IdleState> states;
  private IdleWorkloadState state = IdleWorkloadState.BEGIN;
  /** As the ScaledService has it now. */
  private @Nullable IdleTarget target;
  /** What the status was read as; null before. */
  private @Nullable Stored<IdleState> status;
  /** Completes when the last step has ended. */
  private CompletableFuture<?> last = CompletableFuture.completedFuture(true);
  private boolean isEnded;

  IdleProgress(RevisionId id, IdleMethod.Environment environment, StatusField<IdleState> states) {
    this.id = id;
    this.environment = environment;
    this.states = states;
  }

  RevisionId id() {
    return id;
  }

  void setTarget(IdleTarget now) {
    target = now;
  }

  IdleTarget target() {
    return Objects.requireNonNull(target);
  }

  IdleWorkloadState state() {
    return state;
  }

  /** The state as the status has it, even if the pods were woken since; null if they run. */
  @Nullable IdleState status() {
    return Objects.requireNonNull(status, "not read").value();
  }

  Action on(Event event) {
    var step = state.on(event);
    state = step.state();
    return step.action();
  }

  /** Takes a step once those before it have ended. It begins on the loop, and may end on another thread. */
  <T> CompletableFuture<T> step(Supplier<CompletableFuture<T>> begin) {
    var step = last.handle((_, _) -> true).thenComposeAsync(_ -> begin.get(), environment.loop());
    last = step;
    return step.whenComplete((_, failure) -> {
      if (failure != null) {
        log.error("A step of {} failed, which falls asleep or wakes", id, failure);
      }
    });
  }

  void happened(boolean warning, String reason, String message) {
    environment.events().happened(id, warning, reason, message);
  }

  /** The ScaledService is deleted. */
  void end() {
    isEnded = true;
  }

  boolean isEnded() {
    return isEnded;
  }

  boolean mayWrite() {
    return !isEnded && environment.leadership().mayWrite();
  }

  /** Reads the status. Completes on the loop, with why it could not be read. */
  CompletableFuture<@Nullable Refused> read() {
    return kept(states.get(id), status == null ? null : status.value(), StatusChange.NONE);
  }

  /**
   * Writes the status, unless another leader has. Completes on the loop, with why it was not written.
   *
   * @param next null if its pods run
   */
  CompletableFuture<@Nullable Refused> replace(@Nullable IdleState next) {
    return kept(states.replace(id, Objects.requireNonNull(status, "not read"), next), next,
        StatusChange.BY_THIS_PROCESS);
  }

  /** A state that begins now. */
  IdleState phase(Phase phase, String method) {
    return new IdleState(phase, environment.now().truncatedTo(ChronoUnit.MICROS), method);
  }

  /**
   * Keeps the status. One that could not be read stays as it was.
   *
   * @param expected what it is if no other leader has written it
   * @param change that it is then
   */
  private CompletableFuture<@Nullable Refused> kept(CompletableFuture<Stored<IdleState>> answer,
      @Nullable IdleState expected, StatusChange change) {
    return answer.thenApplyAsync(now -> {
      if (now.refusal() == null) {
        boolean isNew = status != null && !status.uid().equals(now.uid());
        boolean isExpected = Objects.equals(now.value(), expected);
        status = now;
        on(new Event.Stored(now.value(), isNew
            ? StatusChange.NEW_OBJECT
            : isExpected ? change : StatusChange.BY_ANOTHER_LEADER));
      }
      return now.refusal();
    }, environment.loop());
  }
}
