package dev.activator.embedded.runtime;

import dev.activator.embedded.runtime.policy.ExitReason;
import dev.activator.loop.Loop;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process on this machine. As in a container, it alone gets SIGTERM, and when it ends, its
 * remaining children are killed.
 *
 * <p><b>Threads.</b> Methods and callbacks are called on {@code loop}. One thread starts the
 * process and reads its output.
 *
 * <p><b>Errors.</b> If the program does not exist, that is reported as an exit.
 */
final class LocalProcess implements PodProcess {
  private static final Logger log = LoggerFactory.getLogger(LocalProcess.class);
  private static final String SESSION_COMMAND = "setsid";
  /** How long output is read after the exit. Only a child that hides can keep it open. */
  private static final Duration OUTPUT_TIMEOUT = Duration.ofSeconds(2);

  private final Loop loop;
  private final Spec spec;
  private final String mark;
  private final Consumer<ExitReason> exited;
  private final ProcessOutputReader output;
  private @Nullable Process process;
  /** The time from SIGTERM to SIGKILL; null until the process is stopped. */
  private @Nullable Duration stopping;
  private boolean reported;
  /** Whether it leads a session, and so a process group. */
  private volatile boolean isSession;

  private LocalProcess(Loop loop, Spec spec, ProcessOutputReader output,
      Consumer<ExitReason> exited) {
    this.loop = loop;
    this.spec = spec;
    this.mark = PodProcessFinder.mark(spec.pod(), spec.port());
    this.exited = exited;
    this.output = output;
  }

  static Starter on(Loop loop) {
    return (spec, output, exited) -> {
      var started = new LocalProcess(loop, spec, output, exited);
      // This is not a virtual thread, because reading a pipe would pin its carrier.
      Thread.ofPlatform().daemon().name("output of " + spec.pod()).start(started::run);
      return started;
    };
  }

  @Override
  public void stop(Duration killAfter) {
    stopping = killAfter;
    if (process != null) {
      // Process.destroy() would close the output, and a program that prints would end by SIGPIPE.
      process.toHandle().destroy();
      loop.schedule(killAfter, this::kill);
    }
  }

  @Override
  public void kill() {
    stopping = Duration.ZERO;
    if (process != null && process.isAlive()) {
      process.toHandle().destroyForcibly();
    }
  }

  @Override
  public String freeze() {
    var running = process;
    if (running == null || !running.isAlive()) {
      return "its process does not run";
    }
    return isSession
        ? ProcessGroupSignal.STOP.send(running.pid())
        : "this machine has no " + SESSION_COMMAND + ", so its children cannot be stopped with it";
  }

  @Override
  public void thaw() {
    if (process != null && process.isAlive()) {
      var problem = ProcessGroupSignal.CONTINUE.send(process.pid());
      if (!problem.isEmpty()) {
        log.warn("Process {} of {} may stay frozen: {}", process.pid(), spec.pod(), problem);
      }
    }
  }

  @Override
  public long pid() {
    var running = process;
    return running == null ? 0 : running.pid();
  }

  private void run() {
    Process running;
    try {
      running = builder().start();
    } catch (IOException | IllegalArgumentException e) {
      loop.execute(() -> cannotRun(e));
      return;
    }
    loop.execute(() -> started(running));
    var _ = running.onExit().thenRunAsync(() -> {
      // This does not run on the loop, because it reads a file for each process on the machine.
      try {
        PodProcessFinder.marked(mark).forEach(ProcessHandle::destroyForcibly);
      } finally {
        loop.execute(() -> ended(running));
      }
    });
    output.read(running.getInputStream());
  }

  /**
   * Starts the program in its own session. Otherwise, Ctrl-C in the terminal of the activator
   * would end it before its requests have ended.
   */
  private ProcessBuilder builder() {
    var builder = spec.builder();
    builder.environment().put(PodProcessFinder.POD_VARIABLE, mark);
    var session = find(SESSION_COMMAND, builder);
    // If the program cannot be started, its own start names the reason.
    if (session.isPresent() && find(builder.command().getFirst(), builder).isPresent()) {
      isSession = true;
      builder.command(Stream.concat(session.stream(), builder.command().stream()).toList());
    }
    return builder;
  }

  /** The path of a program. */
  private static Optional<String> find(String name, ProcessBuilder builder) {
    var folder = builder.directory() == null ? Path.of("") : builder.directory().toPath();
    var paths = builder.environment().getOrDefault("PATH", "").split(File.pathSeparator);
    var files = name.contains("/")
        ? Stream.of(folder.resolve(name))
        : Arrays.stream(paths).map(path -> folder.resolve(path).resolve(name));
    return files.filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
        .map(file -> file.toAbsolutePath().toString()).findFirst();
  }

  private void started(Process running) {
    process = running;
    log.info("Process {} of {} was started for port {}", running.pid(), spec.pod(), spec.port());
    try {
      running.getOutputStream().close();
    } catch (IOException e) {
      log.debug("The input of {} was closed already", spec.pod(), e);
    }
    if (stopping != null) {
      stop(stopping);
    }
  }

  private void cannotRun(Exception cause) {
    var exit = spec.cannotRun(cause);
    log.warn("{}", exit.message());
    output.end();
    exited.accept(exit);
  }

  private void ended(Process running) {
    output.onEnd(() -> loop.execute(() -> report(running)));
    loop.schedule(OUTPUT_TIMEOUT, () -> report(running));
  }

  private void report(Process running) {
    if (reported) {
      return;
    }
    reported = true;
    int code = running.exitValue();
    if (stopping != null) {
      log.info("Process {} of {} was stopped", running.pid(), spec.pod());
    } else {
      log.warn("Process {} of {} ended with exit code {}; its last lines: {}", running.pid(),
          spec.pod(), code, output.lastLines());
    }
    exited.accept(ExitReason.code(spec.template().id().name(), code, output.errorLine()));
  }
}
