package dev.activator.embedded.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The command that people use, run against one server. */
final class Kubectl {
  static final Path COMMAND = Path.of("/usr/bin/kubectl");
  private static final int PATIENCE_SECONDS = 120;

  private final String url;
  private final Path home;
  private final Map<Process, List<Path>> files = new ConcurrentHashMap<>();

  /**
   * What a run had to say.
   *
   * @param code with which it ended
   * @param out to its standard output
   * @param err to its standard error
   */
  record Run(int code, String out, String err) {}

  Kubectl(String url, Path home) {
    this.url = url;
    this.home = home;
  }

  /** The output of a command that must succeed without writing to standard error. */
  String ok(String... arguments) {
    var run = run(arguments);
    assertThat(run.err()).as("%s", List.of(arguments)).isEmpty();
    assertThat(run.code()).as("%s", List.of(arguments)).isZero();
    return run.out();
  }

  /** The error of a command that must fail. */
  String fails(String... arguments) {
    var run = run(arguments);
    assertThat(run.code()).as("%s", List.of(arguments)).isNotZero();
    return run.err();
  }

  Run run(String... arguments) {
    return output(start(arguments));
  }

  Process start(String... arguments) {
    var command = new ArrayList<>(List.of(COMMAND.toString(), "-s", url));
    command.addAll(List.of(arguments));
    try {
      var builder = new ProcessBuilder(command)
          .redirectOutput(Files.createTempFile(home, "out", ".txt").toFile())
          .redirectError(Files.createTempFile(home, "err", ".txt").toFile());
      builder.environment().put("HOME", home.toString());
      builder.environment().put("KUBE_EDITOR", "sed -i s/before/after/");
      builder.environment().remove("KUBECONFIG");
      var process = builder.start();
      files.put(process, List.of(builder.redirectOutput().file().toPath(),
          builder.redirectError().file().toPath()));
      process.getOutputStream().close();
      return process;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** All it says until it ends. */
  Run output(Process process) {
    try {
      assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
    return new Run(process.exitValue(), read(files.get(process).getFirst()),
        read(files.get(process).getLast()));
  }

  /** What it has said so far. */
  String soFar(Process process) {
    return read(files.get(process).getFirst());
  }

  private static String read(Path file) {
    try (var lines = Files.lines(file)) {
      return lines.filter(line -> !line.startsWith("WARNING: version difference"))
          // Of a request that took more than a second to begin.
          .filter(line -> !line.contains(" request.go:"))
          // As every API server since 1.33; WatchWireTest has its text.
          .filter(line -> !line.startsWith("Warning: v1 Endpoints is deprecated"))
          .collect(Collectors.joining("\n")).strip();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
