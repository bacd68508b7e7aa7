package dev.activator.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Properties;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The parsed command line: the flags of Knative's activator, with one dash or two, and Spring
 * properties.
 *
 * <p><b>Source.</b> {@code environment/client_config.go} of {@code knative.dev/pkg}; Go's {@code flag}
 * package, which takes {@code -name value} and {@code -name=value}.
 *
 * @param properties for Spring, each {@code --name=value}
 */
public record CommandLine(List<String> properties, boolean isDryRun) {
  static final Map<String, String> FLAGS = Map.of("kubeconfig", "activator.cluster.kubeconfig",
      "server", "activator.cluster.server", "cluster", "activator.cluster.kubeconfig-cluster",
      "kube-api-qps", "activator.cluster.api-qps", "kube-api-burst",
      "activator.cluster.api-burst");
  private static final String DRY_RUN = "dry-run";
  private static final String HELP = """
      Usage: java -jar activator.jar [-FLAG VALUE]... [--PROPERTY=VALUE]...

      Holds requests for revisions that are scaled to zero, has them started, and forwards each
      request to one pod. Without KUBECONFIG and outside a pod it brings a small Kubernetes API,
      runs revisions as processes of this machine, and ends its log with what to try first.

        ACTIVATOR_MODE=MODE          embedded: that, also where there is a KUBECONFIG; cluster: with
                                     Knative; standalone: a cluster without Knative
        -kubeconfig FILE             a cluster, by a kubeconfig
        -cluster NAME                the cluster in that kubeconfig
        -server URL                  a cluster, by the address of its API
        -kube-api-qps, -kube-api-burst  the limits of writes to the API
        --activator.port.http1=8012  the port for requests; 0 takes any free one
        --activator.metrics-server.port=9090  the port of metrics, of health, and in embedded mode of
                                     the console
        --dry-run                    prints all settings, and starts nothing
        --version                    prints the version

      All settings: --dry-run, or docs/configuration.md at
      https://github.com/activator-dev/activator""";

  public CommandLine {
    properties = List.copyOf(properties);
  }

  /**
   * @param problem returns the problem of a property; null if there is none
   * @throws IllegalArgumentException naming an unknown argument
   */
  public static CommandLine parse(Function<String, @Nullable String> problem,
      String... arguments) {
    var left = new ArrayDeque<>(List.of(arguments));
    var properties = new ArrayList<String>();
    boolean dryRun = false;
    while (!left.isEmpty()) {
      var argument = left.removeFirst();
      if (nameOf(argument).equals(DRY_RUN)) {
        dryRun = !argument.endsWith("=false");
      } else {
        var next = property(argument, left, problem);
        if (FLAGS.containsValue(nameOf(next))) {
          // As in Go, the last value of a flag counts. Spring would join them.
          properties.removeIf(one -> nameOf(one).equals(nameOf(next)));
        }
        properties.add(next);
      }
    }
    return new CommandLine(properties, dryRun);
  }

  /** The text for {@code --help} or {@code --version}; null without either flag. */
  public static @Nullable String information(String... arguments) {
    var names = List.of(arguments).stream().map(CommandLine::nameOf).toList();
    if (names.contains("help") || names.contains("h")) {
      return HELP;
    }
    return names.contains("version") ? "activator " + version() : null;
  }

  private static String version() {
    var build = new Properties();
    try (var file = CommandLine.class.getResourceAsStream("/META-INF/build-info.properties")) {
      if (file != null) {
        build.load(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return build.getProperty("build.version", "of an unknown version");
  }

  private static String property(String argument, Deque<String> left,
      Function<String, @Nullable String> problems) {
    var property = FLAGS.get(nameOf(argument));
    if (property != null) {
      return "--" + property + "=" + valueOf(argument, left);
    }
    if (!argument.startsWith("--") || !argument.contains("=") && !isKnownToSpring(argument)) {
      throw new IllegalArgumentException("the argument '" + argument + "' is unknown; there are -"
          + String.join(", -", FLAGS.keySet().stream().sorted().toList())
          + ", --dry-run, and --property=value");
    }
    var problem = problems.apply(nameOf(argument));
    if (problem != null) {
      throw new IllegalArgumentException("the argument '" + argument + "' is unknown: " + problem);
    }
    return argument;
  }

  private static boolean isKnownToSpring(String argument) {
    return argument.equals("--debug") || argument.equals("--trace");
  }

  private static String valueOf(String argument, Deque<String> left) {
    int equals = argument.indexOf('=');
    if (equals >= 0) {
      return argument.substring(equals + 1);
    }
    if (left.isEmpty()) {
      throw new IllegalArgumentException("the argument '" + argument + "' needs a value");
    }
    return left.removeFirst();
  }

  private static String nameOf(String argument) {
    if (!argument.startsWith("-")) {
      return "";
    }
    var name = argument.substring(argument.startsWith("--") ? 2 : 1);
    int equals = name.indexOf('=');
    return equals < 0 ? name : name.substring(0, equals);
  }

  public @Nullable String property(String name) {
    var prefix = "--" + name + "=";
    return properties.stream().filter(one -> one.startsWith(prefix))
        .map(one -> one.substring(prefix.length())).findFirst().orElse(null);
  }
}
