package dev.activator.embedded.runtime.policy;

import java.time.Duration;
import java.util.List;

/**
 * The state machine of one pod of embedded mode, which is a local process. A run is the time from a
 * start of the process to its end. Runs are counted from 1.
 *
 * <p><b>Source.</b> The kubelet's {@code CrashLoopBackOff}, with shorter pauses.
 */
public sealed interface LocalPodState {
  Duration FIRST_PAUSE = Duration.ofSeconds(1);
  Duration MAX_PAUSE = Duration.ofSeconds(30);
  /**
   * After this number of early ends in a row, a process is reported as failed, even if it was
   * ready.
   */
  int OFTEN = 2;
  /** The time after which a run is not counted as a failure any more. */
  Duration SETTLED_AFTER = Duration.ofSeconds(10);

  /**
   * @param served whether this run was ready once, or the activator has sent requests to it
   * @param failures the number of runs in a row that ended early
   */
  record Running(int run, boolean ready, boolean served, int failures) implements LocalPodState {}

  /** The process will be restarted. */
  record Waiting(int run, int failures) implements LocalPodState {}

  /** The pod gets no new requests, and finishes those that it has. */
  record Draining(int run) implements LocalPodState {}

  record Stopping(int run) implements LocalPodState {}

  record Gone() implements LocalPodState {}

  sealed interface Event {
    record Ready(int run) implements Event {}

    record NotReady(int run) implements Event {}

    /**
     * The activator sends requests to the pod: its own probe may have found the process ready before
     * the container's.
     */
    record SentTo(int run) implements Event {}

    record Settled(int run) implements Event {}

    /** The process has ended, or could not be started. */
    record Exited(int run, ExitReason exit) implements Event {}

    record PauseOver(int run) implements Event {}

    /** The pod was not ready once within its progress deadline. */
    record DeadlinePassed() implements Event {}

    record Stop() implements Event {}

    /** The requests have ended, or had enough time. */
    record Drained() implements Event {}
  }

  sealed interface Effect {
    record Publish() implements Effect {}

    /** Start the process, and its probes. */
    record StartProcess(int run) implements Effect {}

    /** Send {@link Event.Settled}. */
    record SettleAfter(int run, Duration pause) implements Effect {}

    record ReportFailure(ExitReason exit) implements Effect {}

    /** Report that a process that served requests has ended, and is restarted. */
    record ReportRestart(ExitReason exit) implements Effect {}

    record ReportReady() implements Effect {}

    record ReportOverdue() implements Effect {}

    /** Send {@link Event.PauseOver}. */
    record RestartAfter(int run, Duration pause) implements Effect {}

    record Drain() implements Effect {}

    record StopProcess() implements Effect {}

    record Remove() implements Effect {}
  }

  record Step(LocalPodState next, List<Effect> effects) {
    public Step {
      effects = List.copyOf(effects);
    }
  }

  record Cell(LocalPodState state, Event event) {}

  /**
   * What the controller of its ReplicaSet needs of one pod.
   *
   * @param order higher for younger pods
   * @param wanted false if it must stop
   */
  record View(String name, long order, boolean ready, boolean wanted, int restarts) {}

  /**
   * Whether Endpoints have its address. Without a process they do not: the activator may have found
   * the process ready before they did, and another program may have the port by now.
   */
  default boolean isListed() {
    return this instanceof Running;
  }

  default View view(String name, long order, int restarts) {
    return new View(name, order, this instanceof Running running && running.ready(),
        this instanceof Running || this instanceof Waiting, restarts);
  }

  static LocalPodState initial() {
    return new Running(1, false, false, 0);
  }

  /** The step for an event. An event without a row changes nothing. */
  default Step on(Event event) {
    return switch (new Cell(this, event)) {
      case Cell(Running(var now, var ready, var served, var failures), Event.Ready(var run)) when run == now
          && !ready ->
        step(new Running(run, true, true, failures), new Effect.Publish(), new Effect.ReportReady(),
            new Effect.SettleAfter(run, SETTLED_AFTER));
      case Cell(Running(var now, var ready, var served, var failures), Event.NotReady(var run)) when run == now
          && ready ->
        step(new Running(run, false, served, failures), new Effect.Publish());
      case Cell(Running(var now, var ready, var served, var failures), Event.SentTo(var run)) when run == now ->
        step(new Running(run, ready, true, failures));
      case Cell(Running(var now, var ready, var served, var failures), Event.Settled(var run)) when run == now ->
        step(new Running(run, ready, served, 0));
      case Cell(Running(var now, var ready, var served, var failures), Event.Exited(var run, var exit)) when run == now ->
        step(new Waiting(run, failures + 1), new Effect.RestartAfter(run, pauseAfter(failures)),
            served && failures < OFTEN
                ? new Effect.ReportRestart(exit)
                : new Effect.ReportFailure(exit),
            new Effect.Publish());
      case Cell(Running(var run, var ready, var served, var failures), Event.DeadlinePassed()) when !ready ->
        step(this, new Effect.ReportOverdue(), new Effect.Publish());
      case Cell(Waiting waiting, Event.DeadlinePassed()) ->
        step(this, new Effect.ReportOverdue(), new Effect.Publish());
      // The activator may have found the pod ready before this controller did, so it may have
      // requests.
      case Cell(Running(var run, var ready, var served, var failures), Event.Stop()) ->
        step(new Draining(run), new Effect.Publish(), new Effect.Drain());
      case Cell(Waiting(var now, var failures), Event.PauseOver(var run)) when run == now ->
        step(new Running(run + 1, false, false, failures), new Effect.StartProcess(run + 1),
            new Effect.Publish());
      case Cell(Waiting waiting, Event.Stop()) ->
        step(new Gone(), new Effect.Publish(), new Effect.Remove());
      case Cell(Draining(var run), Event.Drained()) ->
        step(new Stopping(run), new Effect.StopProcess());
      case Cell(Draining(var now), Event.Exited(var run, var exit)) when run == now ->
        step(new Gone(), new Effect.Remove());
      case Cell(Stopping(var now), Event.Exited(var run, var exit)) when run == now ->
        step(new Gone(), new Effect.Remove());
      case Cell(LocalPodState same, Event late) -> step(same);
    };
  }

  static Duration pauseAfter(int failuresBefore) {
    var pause = FIRST_PAUSE.multipliedBy(1L << Math.min(failuresBefore, 10));
    return pause.compareTo(MAX_PAUSE) < 0 ? pause : MAX_PAUSE;
  }

  private static Step step(LocalPodState next, Effect... effects) {
    return new Step(next, List.of(effects));
  }
}
