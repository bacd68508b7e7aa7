package dev.activator.embedded.runtime;

import dev.activator.embedded.runtime.policy.ExitReason;
import dev.activator.embedded.runtime.policy.VariableExpansion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * A started process.
 *
 * <p><b>Threads.</b> The loop it was started with.
 */
interface PodProcess {
  /** Terminates it, and kills it if that has no effect. */
  void stop();

  /** Kills it and its children. */
  void kill();

  /** Its number on this machine; 0 until it runs. */
  long pid();

  /**
   * Describes a process to start.
   *
   * @param pod name of its pod
   * @param port it should listen on, on the loopback address
   * @param variables of its environment, in addition to the activator's
   */
  record Spec(PodTemplate template, String pod, int port, Map<String, String> variables) {
    public Spec {
      var all = new TreeMap<>(variables);
      all.putAll(template.ownVariables(port));
      variables = all;
    }

    /** Throws an {@link IllegalArgumentException} if there is no command. */
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
    /** {@code exited} is called once, on the loop, even if the process cannot be started. */
    PodProcess start(Spec spec, ProcessOutputReader output, Consumer<ExitReason> exited);
  }
}
