package dev.activator.embedded.runtime;

import dev.activator.embedded.runtime.policy.ExitReason;
import dev.activator.loop.Loop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process on this machine. When it ends, its remaining children are killed, too. They are found
 * by an environment variable that names the pod.
 *
 * <p><b>Threads.</b> Methods and callbacks are called on {@code loop}. One thread starts the
 * process and reads its output.
 *
 * <p><b>Errors.</b> If the program does not exist, that is reported as an exit. On systems without
 * {@code /proc}, no children are found.
 */
final class LocalProcess implements PodProcess {
  private static final Logger log = LoggerFactory.getLogger(LocalProcess.class);
  /**
   * The environment variable that names a pod, by the id of the activator's process, the name of
   * the pod, and its port.
   */
  static final String POD_VARIABLE = "ACTIVATOR_POD";
  private static final Path PROC = Path.of("/proc");
  private static final Duration OUTPUT_TIMEOUT = Duration.ofMillis(200);

  private final Loop loop;
  private final Spec spec;
  private final String mark;
  private final Consumer<ExitReason> exited;
  private final ProcessOutputReader output;
  private @Nullable Process process;
  private boolean stopping;

  private LocalProcess(Loop loop, Spec spec, ProcessOutputReader output,
      Consumer<ExitReason> exited) {
    this.loop = loop;
    this.spec = spec;
    this.mark = ProcessHandle.current().pid() + "/" + spec.pod() + "/" + spec.port();
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
  public void stop() {
    stopping = true;
    var running = process;
    if (running != null) {
      running.descendants().forEach(ProcessHandle::destroy);
      running.destroy();
      loop.schedule(spec.template().killAfter(), this::kill);
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
        killOrphans();
      } finally {
        loop.execute(() -> ended(running));
      }
    });
    output.read(running.getInputStream());
  }

  private ProcessBuilder builder() {
    var builder = spec.builder();
    builder.environment().put(POD_VARIABLE, mark);
    return builder;
  }

  private void started(Process running) {
    process = running;
    log.info("Process {} of {} was started for port {}", running.pid(), spec.pod(), spec.port());
    try {
      running.getOutputStream().close();
    } catch (IOException e) {
      log.debug("The input of {} was closed already", spec.pod(), e);
    }
    if (stopping) {
      stop();
    }
  }

  private void cannotRun(Exception cause) {
    var exit = spec.cannotRun(cause);
    log.warn("{}", exit.message());
    output.end();
    exited.accept(exit);
  }

  private void ended(Process running) {
    // The pipe may still contain the last output, and a child may keep it open.
    if (output.ended()) {
      report(running);
    } else {
      loop.schedule(OUTPUT_TIMEOUT, () -> report(running));
    }
  }

  private void report(Process running) {
    int code = running.exitValue();
    if (stopping) {
      log.info("Process {} of {} was stopped", running.pid(), spec.pod());
    } else {
      log.warn("Process {} of {} ended with exit code {}; its last lines: {}", running.pid(),
          spec.pod(), code, output.lastLines());
    }
    exited.accept(ExitReason.code(spec.template().id().name(), code, output.errorLine()));
  }

  private void killOrphans() {
    if (!Files.isDirectory(PROC)) {
      return;
    }
    try (Stream<Path> entries = Files.list(PROC)) {
      entries.filter(entry -> entry.getFileName().toString().matches("\\d+"))
          .filter(this::isMarked)
          .map(entry -> ProcessHandle.of(Long.parseLong(entry.getFileName().toString())))
          .forEach(orphan -> orphan.ifPresent(ProcessHandle::destroyForcibly));
    } catch (IOException | UncheckedIOException e) {
      log.warn("Cannot look for processes that {} left behind", spec.pod(), e);
    }
  }

  private boolean isMarked(Path entry) {
    try {
      var environment = Files.readString(entry.resolve("environ"), StandardCharsets.ISO_8859_1);
      return Arrays.asList(environment.split("\0")).contains(POD_VARIABLE + "=" + mark);
    } catch (IOException e) {
      // The process has ended, or belongs to another user.
      return false;
    }
  }
}
