package dev.activator.embedded.runtime.process;

import dev.activator.embedded.runtime.policy.Exit;
import dev.activator.loop.Loop;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process of this machine.
 *
 * <p>
 * <b>Threads.</b> Callers and callbacks are on {@code loop}. One thread starts the process and then
 * reads what it prints.
 *
 * <p>
 * <b>Errors.</b> A program that does not exist is an exit like any other.
 */
@SuppressWarnings("FutureReturnValueIgnored") // It cannot fail.
public final class LocalProcess implements UserProcess {
  private static final Logger log = LoggerFactory.getLogger(LocalProcess.class);
  private static final Duration GRACE = Duration.ofSeconds(3);
  private static final Duration LAST_WORDS = Duration.ofMillis(200);

  private final Loop loop;
  private final ProcessSpec spec;
  private final String mark;
  private final Consumer<Exit> exited;
  private final OutputTail output;
  private @Nullable Process process;
  private boolean stopping;

  private LocalProcess(Loop loop, ProcessSpec spec, Consumer<Exit> exited) {
    this.loop = loop;
    this.spec = spec;
    this.mark = ProcessHandle.current().pid() + "/" + spec.pod() + "/" + spec.port();
    this.exited = exited;
    this.output = new OutputTail(spec.pod());
  }

  /** Starts processes for this loop. */
  public static UserProcess.Starter on(Loop loop) {
    return (spec, exited) -> {
      var started = new LocalProcess(loop, spec, exited);
      // Not a virtual thread: reading a pipe would hold its carrier for as long as the process
      // lives.
      Thread.ofPlatform().daemon().name("output of " + spec.pod()).start(started::run);
      return started;
    };
  }

  @Override
  public void stop() {
    stopping = true;
    var running = process;
    if (running != null) {
      running.descendants().forEach(ProcessHandle::destroy);
      running.destroy();
      loop.schedule(GRACE, this::kill);
    }
  }

  @Override
  public void kill() {
    stopping = true;
    var running = process;
    if (running != null && running.isAlive()) {
      running.descendants().forEach(ProcessHandle::destroyForcibly);
      running.destroyForcibly();
    }
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
    running.onExit().thenRunAsync(() -> {
      // Off the loop: it reads a file for each process of the machine.
      Leftovers.kill(mark);
      loop.execute(() -> ended(running));
    });
    output.read(running.getInputStream());
  }

  private ProcessBuilder builder() {
    var container = spec.revision().container();
    var environment = spec.environment();
    var command = container.commandLine(environment);
    if (command.isEmpty()) {
      throw new IllegalArgumentException("its container has no command");
    }
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    builder.environment().put(Leftovers.VARIABLE, mark);
    if (!container.workingDir().isEmpty()) {
      builder.directory(Path.of(container.workingDir()).toFile());
    }
    return builder;
  }

  private void started(Process running) {
    process = running;
    log.info("Process {} of {} was started for port {}", running.pid(), spec.pod(), spec.port());
    closeInput(running);
    if (stopping) {
      stop();
    }
  }

  private void closeInput(Process running) {
    try {
      running.getOutputStream().close();
    } catch (IOException e) {
      log.debug("The input of {} was closed already", spec.pod(), e);
    }
  }

  private void cannotRun(Exception cause) {
    var exit = Exit.cannotRun(spec.revision().id().name(), String.valueOf(cause.getMessage()));
    log.warn("{}", exit.message());
    exited.accept(exit);
  }

  private void ended(Process running) {
    // What it printed last may still be in the pipe; a child that keeps it open is not waited for.
    if (output.ended()) {
      report(running);
    } else {
      loop.schedule(LAST_WORDS, () -> report(running));
    }
  }

  private void report(Process running) {
    int code = running.exitValue();
    if (stopping) {
      log.info("Process {} of {} was stopped", running.pid(), spec.pod());
    } else {
      log.warn("Process {} of {} ended with exit code {}; its last lines: {}", running.pid(),
          spec.pod(), code, output.lines());
    }
    exited.accept(Exit.code(spec.revision().id().name(), code, output.lastLine()));
  }
}
