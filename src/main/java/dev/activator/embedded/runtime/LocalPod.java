package dev.activator.embedded.runtime;

import dev.activator.embedded.runtime.policy.ExitReason;
import dev.activator.embedded.runtime.policy.LocalPodState;
import dev.activator.embedded.runtime.policy.LocalPodState.Effect;
import dev.activator.embedded.runtime.policy.LocalPodState.Event;
import dev.activator.lifecycle.ListeningPortFinder;
import dev.activator.loop.Loop;
import dev.activator.revision.Destination;
import dev.activator.revision.LocalProcessProblems.Restarted;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pod that is a local process: it starts, probes, restarts and stops the process, which takes
 * requests on its port.
 *
 * <p><b>Threads.</b> One loop.
 */
final class LocalPod {
  private static final Logger log = LoggerFactory.getLogger(LocalPod.class);
  /**
   * How long a pod must be idle before it is stopped. The activator may still send requests to it
   * until it knows that the pod is not in the Endpoints any more.
   */
  private static final Duration QUIET = Duration.ofMillis(500);
  private static final Duration POLL_PERIOD = Duration.ofMillis(50);
  /** The time after which a process that is not ready is logged, with the reason. */
  private static final Duration SLOW_START = Duration.ofSeconds(5);

  /** A run of the process, which has ended or is the current one. */
  record Run(Instant started, @Nullable Instant ended, @Nullable ExitReason exit) {}

  private final Loop loop;
  private final long order;
  private final PodTemplate template;
  private final String name;
  private final int port;
  private final Kubelet kubelet;
  private final List<ContainerProbeWorker> probes = new ArrayList<>();
  private ReplicaSetPods owner;
  private LocalPodState state = LocalPodState.initial();
  private @Nullable PodProcess process;
  private PodProcess.@Nullable Spec processSpec;
  private boolean frozen;
  private @Nullable Run current;
  private @Nullable Run last;
  private @Nullable ExitReason failure;
  private int runs;
  private LocalProbe.Outcome outcome = LocalProbe.Outcome.PASSED;
  private String unhealthy = "";
  /** The ports on which the process listens instead of {@code port}, as the end of a sentence. */
  private String otherPorts = "";
  /** The time within which the pod must have been ready once. */
  private final Duration progressDeadline;
  private Loop.@Nullable Timer deadline;
  private boolean overdue;
  private boolean restarting;
  private Duration killAfter;
  private @Nullable Instant nextTry;

  LocalPod(Loop loop, ReplicaSetPods owner, long order, PodTemplate template, String name, int port,
      Kubelet kubelet) {
    this.loop = loop;
    this.owner = owner;
    this.order = order;
    this.template = template;
    this.name = name;
    this.port = port;
    this.kubelet = kubelet;
    this.killAfter = template.killAfter();
    this.progressDeadline = kubelet.progressDeadline(template);
  }

  /** Sets the new owner of the pod. */
  void adoptedBy(ReplicaSetPods pods) {
    owner = pods;
  }

  void start() {
    deadline = loop.schedule(progressDeadline, () -> handle(new Event.DeadlinePassed()));
    startProcess(1);
  }

  /** @param grace the time from SIGTERM to SIGKILL */
  void stop(Duration grace) {
    killAfter = grace;
    handle(new Event.Stop());
  }

  void kill() {
    if (process != null) {
      process.kill();
    }
  }

  /**
   * Stops the process and its probes for a while. One that is starting again stays as it is.
   *
   * @return why that is not possible; empty if it is done
   */
  String freeze() {
    if (frozen || process == null || !(state instanceof LocalPodState.Running)) {
      return "";
    }
    var problem = process.freeze();
    if (problem.isEmpty()) {
      frozen = true;
      stopProbes();
    }
    return problem.isEmpty() ? "" : "pod " + name + " cannot be frozen: " + problem;
  }

  void thaw() {
    if (!frozen || process == null) {
      return;
    }
    frozen = false;
    process.thaw();
    if (state instanceof LocalPodState.Running(var run, _, _, _) && processSpec != null) {
      probe(run, processSpec, process);
    }
  }

  /** Retries the start if a ConfigMap or Secret was missing, which may exist now. */
  void configChanged() {
    if (state instanceof LocalPodState.Waiting(var run, _) && failure != null
        && failure.reason().equals(ExitReason.CONFIG_ERROR)) {
      handle(new Event.PauseOver(run));
    }
  }

  String name() {
    return name;
  }

  int port() {
    return port;
  }

  PodTemplate template() {
    return template;
  }

  LocalPodState.View view() {
    return state.view(name, order, Math.max(0, runs - 1));
  }

  /** Whether Endpoints have its address. A run without its ConfigMap or Secret has no process. */
  boolean isListed() {
    return state.isListed() && process != null;
  }

  /** The failure of the last run; null while a process runs. */
  @Nullable ExitReason failure() {
    return failure;
  }

  /**
   * The reason why the running process is not ready; empty if it is ready, or the reason is
   * unknown.
   */
  String problem() {
    var now = unready();
    if (restarting && now.isEmpty() && last != null && last.exit() != null) {
      return last.exit().message() + "; it is started again";
    }
    return overdue && !now.isEmpty() ? afterDeadline(now) : now;
  }

  /** The reason, as one word, why the running process is not ready. */
  String reason() {
    return outcome.nothingListens() ? "NotListening" : "ProbeFails";
  }

  private String unready() {
    return outcome.nothingListens() ? outcome.problem() + otherPorts : outcome.problem();
  }

  private String afterDeadline(String why) {
    return "no pod was ready within " + progressDeadline.toSeconds()
        + " s, the progress deadline: " + why;
  }

  /** Whether a process that served requests has ended, and none has been ready since. */
  boolean isRestarting() {
    return restarting;
  }

  /** The restarts of the pod; null if its process was not restarted, and is not about to be. */
  @Nullable Restarted restarted() {
    var ended = last == null ? failure : last.exit();
    return runs <= 1 && nextTry == null
        ? null
        : new Restarted(name, Math.max(0, runs - 1), nextTry, ended == null ? "" : ended.message());
  }

  /**
   * The reason why the pod was not ready within its progress deadline; empty if it was, or may
   * still be.
   */
  String overdue() {
    return overdue ? afterDeadline(failure == null ? unready() : failure.message()) : "";
  }

  @Nullable Run current() {
    return current;
  }

  /** The previous run; null if there was none. */
  @Nullable Run last() {
    return last;
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
        restarting = false;
        owner.failed(this, exit);
      }
      case Effect.ReportRestart(var exit) -> {
        restarting = true;
        owner.restarting(this, exit);
      }
      case Effect.ReportReady() -> {
        clearDeadline();
        restarting = false;
        owner.ready(this);
      }
      case Effect.ReportOverdue() -> {
        overdue = true;
        log.warn("Pod {}: {}", name, overdue());
        owner.overdue(this);
      }
      case Effect.RestartAfter(var run, var pause) -> {
        nextTry = kubelet.now().plus(pause);
        loop.schedule(pause, () -> handle(new Event.PauseOver(run)));
      }
      case Effect.Drain() -> drain(loop.nanoTime(), loop.nanoTime());
      case Effect.StopProcess() -> {
        // A frozen process would not see SIGTERM.
        thaw();
        if (process != null) {
          process.stop(killAfter);
        }
      }
      case Effect.Remove() -> {
        clearDeadline();
        owner.removed(this);
      }
    }
  }

  private void clearDeadline() {
    overdue = false;
    if (deadline != null) {
      deadline.cancel();
      deadline = null;
    }
  }

  private void startProcess(int run) {
    failure = null;
    nextTry = null;
    unhealthy = "";
    otherPorts = "";
    var environment = kubelet.environment(template, name);
    if (!environment.problem().isEmpty()) {
      log.warn("Pod {} waits: {}", name, environment.problem());
      // This runs later, because the caller must first finish the effects of this state.
      loop.execute(() -> ended(run, ExitReason.configError(environment.problem())));
      return;
    }
    runs++;
    current = new Run(kubelet.now(), null, null);
    var spec = new PodProcess.Spec(template, name, port, environment.variables());
    processSpec = spec;
    var started = kubelet.starter(template).start(spec, kubelet.output(template, name),
        exit -> ended(run, exit));
    process = started;
    kubelet.began(template, name, started, spec);
    if (template.hasCommand() || template.isSample()) {
      probe(run, spec, started);
      loop.schedule(POLL_PERIOD, () -> watchRequests(run));
      loop.schedule(SLOW_START, () -> explainSlow(run));
    }
  }

  private void ended(int run, ExitReason exit) {
    stopProbes();
    outcome = LocalProbe.Outcome.PASSED;
    process = null;
    frozen = false;
    kubelet.ended(template, name);
    var why = unhealthy.isEmpty() ? exit : exit.unhealthy(unhealthy);
    failure = why;
    if (current != null) {
      last = new Run(current.started(), kubelet.now(), why);
      current = null;
    }
    if (kubelet.sends(destination())) {
      handle(new Event.SentTo(run));
    }
    handle(new Event.Exited(run, why));
  }

  /**
   * Polls until the pod is ready, or the activator sends requests to it. At the end of the process
   * that is mostly too late: the activator notices it first, and sends it none any more.
   */
  private void watchRequests(int run) {
    if (!(state instanceof LocalPodState.Running(var now, _, var served, _)) || now != run
        || served) {
      return;
    }
    if (kubelet.sends(destination())) {
      handle(new Event.SentTo(run));
    } else {
      loop.schedule(POLL_PERIOD, () -> watchRequests(run));
    }
  }

  private Destination destination() {
    return new Destination(PodObjectBuilder.LOOPBACK, port);
  }

  /** Starts the probes. If there is a startup probe, the others begin when it has passed. */
  private void probe(int run, PodProcess.Spec spec, PodProcess started) {
    var startup = template.probe("startupProbe", port);
    if (startup == null) {
      probeLifetime(run, spec, started);
    } else {
      probe(startup, ContainerProbeWorker.DEFAULT_PERIOD, spec, started,
          new Probing(run, "startupProbe") {
            @Override
            public void passed() {
              stopProbes();
              probeLifetime(run, spec, started);
            }

            @Override
            public void failed(String why) {
              endUnhealthy(why);
            }
          });
    }
  }

  private void probeLifetime(int run, PodProcess.Spec spec, PodProcess started) {
    var readiness = template.readiness(port);
    var eager = readiness.action() instanceof LocalProbe.Exec
        ? ContainerProbeWorker.AS_IT_TAKES
        : ContainerProbeWorker.EAGER_PERIOD;
    probe(readiness, eager, spec, started, new Probing(run, "readinessProbe") {
      @Override
      public void passed() {
        outcome = LocalProbe.Outcome.PASSED;
        handle(new Event.Ready(run));
      }

      @Override
      public void failed(String why) {
        if (view().ready()) {
          log.warn("Pod {} is no longer ready: {}", name, why);
        }
        handle(new Event.NotReady(run));
      }
    });
    var liveness = template.probe("livenessProbe", port);
    if (liveness != null) {
      probe(liveness, ContainerProbeWorker.DEFAULT_PERIOD, spec, started,
          new Probing(run, "livenessProbe") {
            @Override
            public void failed(String why) {
              endUnhealthy(why);
            }
          });
    }
  }

  private void probe(LocalProbe probe, Duration firstPeriod, PodProcess.Spec spec,
      PodProcess started, Probing listener) {
    var periodic = new ContainerProbeWorker(loop, Thread::startVirtualThread, probe, firstPeriod,
        () -> probe.attempt(new LocalProbe.Probed(started.pid(), port, spec::builder)), listener);
    probes.add(periodic);
    // A process that was just started does not pass, and needs the processors.
    loop.schedule(firstPeriod.equals(ContainerProbeWorker.AS_IT_TAKES)
        ? Duration.ZERO
        : ContainerProbeWorker.EAGER_PERIOD, periodic::start);
  }

  private void stopProbes() {
    probes.forEach(ContainerProbeWorker::stop);
    probes.clear();
  }

  private boolean isSlow(int run) {
    return state instanceof LocalPodState.Running(var now, var ready, _, _) && now == run && !ready
        && !outcome.passed();
  }

  private void explainSlow(int run) {
    var running = process;
    if (running != null && isSlow(run)) {
      Thread.startVirtualThread(() -> {
        var ports = ListeningPortFinder.of(running.pid());
        loop.execute(() -> reportSlow(run, ports));
      });
    }
  }

  private void reportSlow(int run, SortedSet<Integer> ports) {
    if (isSlow(run)) {
      otherPorts = ports.isEmpty()
          ? ""
          : ports.stream().map(String::valueOf)
              .collect(Collectors.joining(", ", " (it listens on ", ")"));
      log.warn("Pod {} is not ready after {} s: {}", name, SLOW_START.toSeconds(), problem());
      owner.problemChanged();
      owner.slow(this);
    }
  }

  private abstract class Probing implements ContainerProbeWorker.Listener {
    private final int run;
    private final String what;

    Probing(int run, String what) {
      this.run = run;
      this.what = what;
    }

    @Override
    public void passed() {}

    @Override
    public void attemptFailed(LocalProbe.Outcome now) {
      if (!view().ready() && !now.equals(outcome)) {
        outcome = now;
        owner.problemChanged();
      }
    }

    /** Stops the process. Its exit is handled like any other exit. */
    void endUnhealthy(String why) {
      var running = process;
      if (running != null && state instanceof LocalPodState.Running(var now, _, _, _)
          && now == run) {
        unhealthy = "its " + what + " failed too often: " + why;
        log.warn("Pod {} is started again: {}", name, unhealthy);
        stopProbes();
        handle(new Event.NotReady(run));
        running.stop(killAfter);
      }
    }
  }

  /** Polls until the pod has been idle for {@link #QUIET}, or the request timeout has passed. */
  private void drain(long startNanos, long quietSinceNanos) {
    if (!(state instanceof LocalPodState.Draining)) {
      return;
    }
    long now = loop.nanoTime();
    boolean busy = kubelet.inFlight(destination()) > 0;
    long quietSince = busy ? now : quietSinceNanos;
    if (now - quietSince >= QUIET.toNanos()
        || now - startNanos >= template.requestTimeout().toNanos()) {
      handle(new Event.Drained());
    } else {
      loop.schedule(POLL_PERIOD, () -> drain(startNanos, quietSince));
    }
  }
}
