package dev.activator.embedded.runtime.policy;

import dev.activator.embedded.runtime.policy.PodEffect.Check;
import dev.activator.embedded.runtime.policy.PodEffect.Drain;
import dev.activator.embedded.runtime.policy.PodEffect.Listen;
import dev.activator.embedded.runtime.policy.PodEffect.ListenAfter;
import dev.activator.embedded.runtime.policy.PodEffect.Publish;
import dev.activator.embedded.runtime.policy.PodEffect.Remove;
import dev.activator.embedded.runtime.policy.PodEffect.ReportFailure;
import dev.activator.embedded.runtime.policy.PodEffect.ReportReady;
import dev.activator.embedded.runtime.policy.PodEffect.RestartAfter;
import dev.activator.embedded.runtime.policy.PodEffect.SettleAfter;
import dev.activator.embedded.runtime.policy.PodEffect.StartProcess;
import dev.activator.embedded.runtime.policy.PodEffect.StopProcess;
import dev.activator.embedded.runtime.policy.PodEvent.CannotListen;
import dev.activator.embedded.runtime.policy.PodEvent.Checked;
import dev.activator.embedded.runtime.policy.PodEvent.Drained;
import dev.activator.embedded.runtime.policy.PodEvent.Exited;
import dev.activator.embedded.runtime.policy.PodEvent.ListenPauseOver;
import dev.activator.embedded.runtime.policy.PodEvent.Listening;
import dev.activator.embedded.runtime.policy.PodEvent.PauseOver;
import dev.activator.embedded.runtime.policy.PodEvent.Settled;
import dev.activator.embedded.runtime.policy.PodEvent.Stop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The life of one pod: a process that is started, checked, started again when it ends, and a
 * sidecar in front of it that stays all the while.
 *
 * <p>
 * <b>Source.</b> The kubelet's {@code CrashLoopBackOff}, with shorter pauses.
 */
public sealed interface PodState {
  /** A pod that was just made; its sidecar is being opened and its first run started. */
  static PodState initial() {
    return new Running(new Address(0, 0), 1, false, 0);
  }

  /**
   * Where its sidecar listens.
   *
   * @param port 0 while it does not yet
   * @param refusals how often it could not
   */
  record Address(int port, int refusals) {
    static Address of(int port) {
      return new Address(port, 0);
    }

    boolean known() {
      return port > 0;
    }

    private Address refused() {
      return new Address(0, refusals + 1);
    }

    private PodEffect tryAgain() {
      return new ListenAfter(pauseAfter(refusals));
    }
  }

  /**
   * Its process runs, as far as is known.
   *
   * @param ready whether it takes requests
   * @param failures runs in a row that ended too early
   */
  record Running(Address address, int run, boolean ready, int failures) implements PodState {
    private Step listening(Address known) {
      return step(new Running(known, run, ready, failures), new Publish(), new Check(run));
    }

    private Step unheard(Exit exit) {
      return step(new Running(address.refused(), run, ready, failures), new ReportFailure(exit),
          address.tryAgain());
    }

    private Step exited(Exit exit) {
      return step(new Waiting(address, run, failures + 1), new Publish(), new ReportFailure(exit),
          new RestartAfter(run, pauseAfter(failures)));
    }
  }

  /** Its process ended, and is started again after a pause. */
  record Waiting(Address address, int run, int failures) implements PodState {
    private Step unheard(Exit exit) {
      return step(new Waiting(address.refused(), run, failures), new ReportFailure(exit),
          address.tryAgain());
    }

    private Step restart() {
      var effects = new ArrayList<PodEffect>(List.of(new Publish(), new StartProcess(run + 1)));
      if (address.known()) {
        effects.add(new Check(run + 1));
      }
      return new Step(new Running(address, run + 1, false, failures), effects);
    }
  }

  /** It takes no new requests and finishes those it has. */
  record Draining(int run) implements PodState {}

  /** Its process was told to end. */
  record Stopping(int run) implements PodState {}

  /** It is no more. Whatever is still on its way is ignored. */
  record Gone() implements PodState {}

  /** What holds next, and what must be done now, in this order. */
  record Step(PodState next, List<PodEffect> effects) {
    public Step {
      effects = List.copyOf(effects);
    }
  }

  record Cell(PodState state, PodEvent event) {}

  Duration FIRST_PAUSE = Duration.ofSeconds(1);
  Duration LONGEST_PAUSE = Duration.ofSeconds(30);
  Duration SETTLED_AFTER = Duration.ofSeconds(10);

  /** The transition table; what has no line of its own changes nothing. */
  default Step on(PodEvent event) {
    return switch (new Cell(this, event)) {
      case Cell(Running r, Listening(var port)) -> r.listening(Address.of(port));
      case Cell(Running r, CannotListen(var exit)) -> r.unheard(exit);
      case Cell(Running r, ListenPauseOver()) -> step(r, new Listen());
      case Cell(Running r, Checked(var run, var ok)) when run != r.run -> step(r);
      case Cell(Running r, Checked(var run, var ok)) when ok ->
        step(new Running(r.address, run, true, r.failures), new Publish(), new ReportReady(),
            new SettleAfter(run, SETTLED_AFTER));
      case Cell(Running r, Checked(var run, var ok)) -> step(r, new Check(run));
      case Cell(Running r, Settled(var run)) when run == r.run ->
        step(new Running(r.address, run, r.ready, 0));
      case Cell(Running r, Exited(var run, var exit)) when run == r.run -> r.exited(exit);
      case Cell(Running r, Stop()) when r.ready ->
        step(new Draining(r.run), new Publish(), new Drain());
      // It never took a request, so none can be on its way.
      case Cell(Running r, Stop()) -> step(new Stopping(r.run), new Publish(), new StopProcess());
      case Cell(Waiting w, Listening(var port)) ->
        step(new Waiting(Address.of(port), w.run, w.failures), new Publish());
      case Cell(Waiting w, CannotListen(var exit)) -> w.unheard(exit);
      case Cell(Waiting w, ListenPauseOver()) -> step(w, new Listen());
      case Cell(Waiting w, PauseOver(var run)) when run == w.run -> w.restart();
      case Cell(Waiting w, Stop()) -> step(new Gone(), new Publish(), new Remove());
      case Cell(Draining d, Drained()) -> step(new Stopping(d.run), new StopProcess());
      case Cell(Draining d, Exited(var run, var exit)) when run == d.run ->
        step(new Gone(), new Remove());
      case Cell(Stopping s, Exited(var run, var exit)) when run == s.run ->
        step(new Gone(), new Remove());
      case Cell(PodState same, PodEvent late) -> step(same);
    };
  }

  /** How long to wait after a failure, when there were so many before it. */
  static Duration pauseAfter(int failuresBefore) {
    var pause = FIRST_PAUSE.multipliedBy(1L << Math.min(failuresBefore, 10));
    return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
  }

  private static Step step(PodState next, PodEffect... effects) {
    return new Step(next, List.of(effects));
  }
}
