package dev.activator.embedded.runtime.policy;

import java.time.Duration;
import java.util.List;

/**
 * The life of one pod: its process is started, probed until it is ready, and started again when it
 * ends. A run is one life of the process; runs are counted from 1.
 *
 * <p>
 * <b>Source.</b> The kubelet's {@code CrashLoopBackOff}, with shorter pauses.
 */
public sealed interface PodState {
  Duration FIRST_PAUSE = Duration.ofSeconds(1);
  Duration LONGEST_PAUSE = Duration.ofSeconds(30);
  /** A run that was ready for so long makes earlier failures count no more. */
  Duration SETTLED_AFTER = Duration.ofSeconds(10);

  /**
   * Its process runs, as far as is known.
   *
   * @param ready whether it takes requests
   * @param failures runs in a row that ended too early
   */
  record Running(int run, boolean ready, int failures) implements PodState {}

  /** Its process ended, and is started again after a pause. */
  record Waiting(int run, int failures) implements PodState {}

  /** It gets no new requests and finishes those it has. */
  record Draining(int run) implements PodState {}

  /** Its process was told to end. */
  record Stopping(int run) implements PodState {}

  /** It has ended. Later events are ignored. */
  record Gone() implements PodState {}

  /** What happens to a pod. */
  sealed interface Event {
    /** The process of this run takes requests. */
    record Ready(int run) implements Event {}

    /** The process of this run has been ready for {@link #SETTLED_AFTER}. */
    record Settled(int run) implements Event {}

    /** The process of this run ended, or could not be started. */
    record Exited(int run, Exit exit) implements Event {}

    /** The pause after this run is over. */
    record PauseOver(int run) implements Event {}

    /** The pod is no longer wanted. */
    record Stop() implements Event {}

    /** Its requests have ended, or were given enough time. */
    record Drained() implements Event {}
  }

  /** What must be done for a pod. */
  sealed interface Effect {
    /** Write it to the API: whether it is listed, or ready, has changed. */
    record Publish() implements Effect {}

    /** Start its process, and probe it until it is ready. */
    record StartProcess(int run) implements Effect {}

    /** Send {@link Event.Settled} after this. */
    record SettleAfter(int run, Duration pause) implements Effect {}

    /** Write to the revision's status that the process failed. */
    record ReportFailure(Exit exit) implements Effect {}

    /** Write to the revision's status that the process works. */
    record ReportReady() implements Effect {}

    /** Send {@link Event.PauseOver} after this. */
    record RestartAfter(int run, Duration pause) implements Effect {}

    /** Wait for its requests to end. */
    record Drain() implements Effect {}

    /** Ask its process to end. */
    record StopProcess() implements Effect {}

    /** Forget the pod. */
    record Remove() implements Effect {}
  }

  /** The next state, and what must be done now, in this order. */
  record Step(PodState next, List<Effect> effects) {
    public Step {
      effects = List.copyOf(effects);
    }
  }

  record Cell(PodState state, Event event) {}

  /** A new pod, whose first run is being started. */
  static PodState initial() {
    return new Running(1, false, 0);
  }

  /** The transition table; an event without a row changes nothing. */
  default Step on(Event event) {
    return switch (new Cell(this, event)) {
      case Cell(Running(var now, var ready, var failures), Event.Ready(var run)) when run == now ->
        step(new Running(run, true, failures), new Effect.Publish(), new Effect.ReportReady(),
            new Effect.SettleAfter(run, SETTLED_AFTER));
      case Cell(Running(var now, var ready, var failures), Event.Settled(var run)) when run == now ->
        step(new Running(run, ready, 0));
      case Cell(Running(var now, var ready, var failures), Event.Exited(var run, var exit)) when run == now ->
        step(new Waiting(run, failures + 1), new Effect.Publish(), new Effect.ReportFailure(exit),
            new Effect.RestartAfter(run, pauseAfter(failures)));
      // The activator may have found it ready before we did, so it may have requests.
      case Cell(Running(var run, var ready, var failures), Event.Stop()) ->
        step(new Draining(run), new Effect.Publish(), new Effect.Drain());
      case Cell(Waiting(var now, var failures), Event.PauseOver(var run)) when run == now ->
        step(new Running(run + 1, false, failures), new Effect.Publish(),
            new Effect.StartProcess(run + 1));
      case Cell(Waiting waiting, Event.Stop()) ->
        step(new Gone(), new Effect.Publish(), new Effect.Remove());
      case Cell(Draining(var run), Event.Drained()) ->
        step(new Stopping(run), new Effect.StopProcess());
      case Cell(Draining(var now), Event.Exited(var run, var exit)) when run == now ->
        step(new Gone(), new Effect.Remove());
      case Cell(Stopping(var now), Event.Exited(var run, var exit)) when run == now ->
        step(new Gone(), new Effect.Remove());
      case Cell(PodState same, Event late) -> step(same);
    };
  }

  /** The back-off after this many failures in a row. */
  static Duration pauseAfter(int failuresBefore) {
    var pause = FIRST_PAUSE.multipliedBy(1L << Math.min(failuresBefore, 10));
    return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
  }

  private static Step step(PodState next, Effect... effects) {
    return new Step(next, List.of(effects));
  }
}
