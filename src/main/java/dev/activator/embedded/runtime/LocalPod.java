package dev.activator.embedded.runtime;

import dev.activator.embedded.runtime.policy.Exit;
import dev.activator.embedded.runtime.policy.PodEffect;
import dev.activator.embedded.runtime.policy.PodEvent;
import dev.activator.embedded.runtime.policy.PodState;
import dev.activator.embedded.runtime.policy.PodView;
import dev.activator.embedded.runtime.process.ProcessSpec;
import dev.activator.embedded.runtime.process.UserProcess;
import dev.activator.embedded.runtime.sidecar.Sidecar;
import dev.activator.loop.Loop;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One pod: a process and the sidecar in front of it.
 *
 * <p>
 * <b>Threads.</b> Those of {@code loop}: callers, state and every call to the listener.
 */
final class LocalPod {
  /** Told of what happens to a pod. */
  interface Listener {
    /** Its address, or whether it is ready, changed. */
    void changed(LocalPod pod);

    /** Its process failed, or its sidecar did. */
    void failed(LocalPod pod, Exit exit);

    /** Its process takes requests. */
    void ready(LocalPod pod);

    /** It is no more. */
    void removed(LocalPod pod);
  }

  private static final Logger log = LoggerFactory.getLogger(LocalPod.class);

  private final Loop loop;
  private final long order;
  private final ProcessSpec spec;
  private final Sidecar sidecar;
  private final UserProcess.Starter starter;
  private final Listener listener;
  private PodState state = PodState.initial();
  private @Nullable UserProcess process;
  private String failure = "";

  LocalPod(Loop loop, long order, ProcessSpec spec, Sidecar sidecar, UserProcess.Starter starter,
      Listener listener) {
    this.loop = loop;
    this.order = order;
    this.spec = spec;
    this.sidecar = sidecar;
    this.starter = starter;
    this.listener = listener;
  }

  void start() {
    listen();
    startProcess(1);
  }

  /** Ends it, letting it finish what it has. */
  void stop() {
    handle(new PodEvent.Stop());
  }

  /** Ends it now. */
  void kill() {
    if (process != null) {
      process.kill();
    }
  }

  String name() {
    return spec.pod();
  }

  PodView view() {
    return PodView.of(spec.pod(), order, state);
  }

  /** Why its process does not run, or cannot be reached; empty where neither is so. */
  String failure() {
    return failure;
  }

  private void handle(PodEvent event) {
    var step = state.on(event);
    state = step.next();
    step.effects().forEach(this::perform);
  }

  private void perform(PodEffect effect) {
    switch (effect) {
      case PodEffect.Publish() -> listener.changed(this);
      case PodEffect.Listen() -> listen();
      case PodEffect.ListenAfter(var pause) ->
        loop.schedule(pause, () -> handle(new PodEvent.ListenPauseOver()));
      case PodEffect.StartProcess(var run) -> startProcess(run);
      case PodEffect.Check(var run) -> sidecar.check(
          ready -> loop.execute(() -> handle(new PodEvent.Checked(run, ready))));
      case PodEffect.SettleAfter(var run, var pause) ->
        loop.schedule(pause, () -> handle(new PodEvent.Settled(run)));
      case PodEffect.ReportFailure(var exit) -> {
        failure = exit.message();
        listener.failed(this, exit);
      }
      case PodEffect.ReportReady() -> listener.ready(this);
      case PodEffect.RestartAfter(var run, var pause) ->
        loop.schedule(pause, () -> handle(new PodEvent.PauseOver(run)));
      case PodEffect.Drain() -> sidecar.drain(spec.revision().requestTimeout(),
          () -> loop.execute(() -> handle(new PodEvent.Drained())));
      case PodEffect.StopProcess() -> {
        if (process != null) {
          process.stop();
        }
      }
      case PodEffect.Remove() -> {
        sidecar.close();
        listener.removed(this);
      }
    }
  }

  private void listen() {
    sidecar.open(port -> loop.execute(() -> listening(port)),
        cause -> loop.execute(() -> cannotListen(cause)));
  }

  private void listening(int port) {
    if (state instanceof PodState.Running) {
      failure = "";
    }
    handle(new PodEvent.Listening(port));
  }

  private void cannotListen(Throwable cause) {
    log.warn("The sidecar of {} cannot listen; trying again", spec.pod(), cause);
    handle(new PodEvent.CannotListen(Exit.cannotRun(spec.revision().id().name(),
        "its sidecar cannot listen: " + cause.getMessage())));
  }

  private void startProcess(int run) {
    failure = "";
    process = starter.start(spec, exit -> handle(new PodEvent.Exited(run, exit)));
  }
}
