package dev.activator.embedded.runtime;

import dev.activator.embedded.runtime.policy.ExitReason;
import dev.activator.embedded.runtime.policy.VariableExpansion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * A process of a pod, which was started.
 *
 * <p><b>Threads.</b> The loop with which it was started.
 */
interface PodProcess {
  /** How long what can wait leaves the processors to a process that was just started. */
  Duration HEAD_START = Duration.ofMillis(100);

  /** Terminates the process, and kills it if it does not end in time. */
  void stop(Duration killAfter);

  /** Kills the process and its children. */
  void kill();

  /**
   * Stops the process and its children for a while.
   *
   * @return why that is not possible; empty if it is done
   */
  String freeze();

  /** Lets a frozen process go on. */
  void thaw();

  /** The process id; 0 until the process runs. */
  long pid();

  /**
   * The description of a process to start.
   *
   * @param pod the name of its pod
   * @param port the port of the loopback address on which it should listen
   * @param variables its environment variables, in addition to the activator's
   */
  record Spec(PodTemplate template, String pod, int port, Map<String, String> variables) {
    public Spec {
      var all = new TreeMap<>(variables);
      all.putAll(template.ownVariables(port));
      variables = all;
    }

    /**
     * Makes a builder of the process. Throws an {@link IllegalArgumentException} if there is no
     * command.
     */
    ProcessBuilder builder() {
      var command = VariableExpansion.ofCommand(template.words(), variables);
      if (command.isEmpty()) {
        throw new IllegalArgumentException("its container has no command");
      }
      var builder = new ProcessBuilder(command).redirectErrorStream(true);
      builder.environment().putAll(variables);
      if (!template.workingDir().isEmpty()) {
        builder.directory(Path.of(template.workingDir()).toFile());
      }
      return builder;
    }

    ExitReason cannotRun(Throwable cause) {
      var command = VariableExpansion.ofCommand(template.words(), variables);
      var folder = template.workingDir();
      boolean isMissing = !folder.isEmpty() && !Files.isDirectory(Path.of(folder));
      return ExitReason.cannotRun(template.id().name(),
          ExitReason.sentence(command.isEmpty() ? "" : command.getFirst(), isMissing ? folder : "",
              String.valueOf(cause.getMessage())));
    }
  }

  @FunctionalInterface
  interface Starter {
    /**
     * Starts a process. {@code exited} is called once, on the loop, even if the process cannot be
     * started.
     */
    PodProcess start(Spec spec, ProcessOutputReader output, Consumer<ExitReason> exited);
  }
}
