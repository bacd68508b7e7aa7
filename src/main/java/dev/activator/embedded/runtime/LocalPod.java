package dev.activator.embedded.runtime;

import dev.activator.embedded.runtime.policy.PodState;
import dev.activator.embedded.runtime.policy.PodState.Effect;
import dev.activator.embedded.runtime.policy.PodState.Event;
import dev.activator.embedded.runtime.policy.PodView;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import java.time.Duration;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A process that takes requests on its own port.
 *
 * <p>
 * <b>Threads.</b> One loop.
 */
final class LocalPod {
  /**
   * The activator may choose a stopped pod until it is delisted, so it must be idle for this long.
   */
  private static final Duration QUIET = Duration.ofMillis(500);
  private static final Duration DRAIN_PAUSE = Duration.ofMillis(50);

  private final Loop loop;
  private final RevisionPods owner;
  private final long order;
  private final UserProcess.Spec spec;
  private final UserProcess.Starter starter;
  private final Supplier<ProcessOutput> outputs;
  private final ToIntFunction<Destination> inFlight;
  private PodState state = PodState.initial();
  private @Nullable UserProcess process;
  private String failure = "";

  LocalPod(Loop loop, RevisionPods owner, long order, UserProcess.Spec spec,
      UserProcess.Starter starter, Supplier<ProcessOutput> outputs,
      ToIntFunction<Destination> inFlight) {
    this.loop = loop;
    this.owner = owner;
    this.order = order;
    this.spec = spec;
    this.starter = starter;
    this.outputs = outputs;
    this.inFlight = inFlight;
  }

  void start() {
    startProcess(1);
  }

  void stop() {
    handle(new Event.Stop());
  }

  void kill() {
    if (process != null) {
      process.kill();
    }
  }

  String name() {
    return spec.pod();
  }

  int port() {
    return spec.port();
  }

  PodView view() {
    return PodView.of(spec.pod(), order, state);
  }

  /** Empty while its process runs. */
  String failure() {
    return failure;
  }

  private void handle(Event event) {
    var step = state.on(event);
    state = step.next();
    step.effects().forEach(this::perform);
  }

  private void perform(Effect effect) {
    switch (effect) {
      case Effect.Publish() -> owner.changed(this);
      case Effect.StartProcess(var run) -> startProcess(run);
      case Effect.SettleAfter(var run, var pause) ->
        loop.schedule(pause, () -> handle(new Event.Settled(run)));
      case Effect.ReportFailure(var exit) -> {
        failure = exit.message();
        owner.failed(this, exit);
      }
      case Effect.ReportReady() -> owner.ready(this);
      case Effect.RestartAfter(var run, var pause) ->
        loop.schedule(pause, () -> handle(new Event.PauseOver(run)));
      case Effect.Drain() -> drain(loop.nanoTime(), loop.nanoTime());
      case Effect.StopProcess() -> {
        if (process != null) {
          process.stop();
        }
      }
      case Effect.Remove() -> owner.removed(this);
    }
  }

  private void startProcess(int run) {
    failure = "";
    var probe = spec.revision().probe();
    var readiness = new ReadinessCheck(loop, Thread::startVirtualThread,
        () -> probe.attempt(spec.port()), probe.successThreshold(),
        () -> handle(new Event.Ready(run)));
    process = starter.start(spec, outputs.get(), exit -> {
      readiness.stop();
      handle(new Event.Exited(run, exit));
    });
    readiness.start();
  }

  /** Polls until the pod was idle for {@link #QUIET} or the request timeout has passed. */
  private void drain(long startNanos, long quietSinceNanos) {
    if (!(state instanceof PodState.Draining)) {
      return;
    }
    long now = loop.nanoTime();
    boolean busy = inFlight.applyAsInt(new Destination(PodObjects.LOOPBACK, spec.port())) > 0;
    long quietSince = busy ? now : quietSinceNanos;
    if (now - quietSince >= QUIET.toNanos()
        || now - startNanos >= spec.revision().requestTimeout().toNanos()) {
      handle(new Event.Drained());
    } else {
      loop.schedule(DRAIN_PAUSE, () -> drain(startNanos, quietSince));
    }
  }
}
