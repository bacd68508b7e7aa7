package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Autobahn's WebSocket cases, straight to an echoing pod and through the activator: whatever goes well
 * without it goes well with it. Takes some minutes, and is run by the profile {@code autobahn} only.
 */
class AutobahnSuite extends WireTest {
  private static final Set<String> GOOD = Set.of("OK", "NON_STRICT", "INFORMATIONAL");
  /** Those of compression, which no side offers. */
  private static final String LEFT_OUT = "12.*,13.*";
  private static final Path REPORTS = Path.of("target", "autobahn");

  /** How a case went. */
  private record Result(String behaviour, String close) {
    boolean isGood() {
      return GOOD.contains(behaviour) && GOOD.contains(close);
    }
  }

  @Override
  Activator.Settings settings() {
    return Activator.Settings.DEFAULT.hosts((_, _, _) -> Activator.HELLO);
  }

  @BeforeEach
  void needsTheSuite() {
    assumeTrue(AutobahnSuite.class.getResource("/autobahntestsuite") != null,
        "Autobahn comes with the profile of its name");
  }

  @Test
  void doesNotMakeAWebSocketWorse() throws Exception {
    try (var pod = new EchoWebSocket()) {
      activator.throttle.grow(pod.destination(), 100);

      var direct = run("direct", pod.destination().port());
      var through = run("activator", activator.port);

      assertThat(through.keySet()).isEqualTo(direct.keySet()).isNotEmpty();
      var worse = through.keySet().stream()
          .filter(one -> direct.get(one).isGood() && !through.get(one).isGood())
          .map(one -> one + ": " + direct.get(one) + ", but " + through.get(one)).toList();
      assertThat(worse).isEmpty();
      System.out.println(direct.size() + " cases; straight " + summary(direct)
          + "; through the activator " + summary(through) + "; reports in " + REPORTS);
    }
  }

  private static Map<String, Long> summary(Map<String, Result> results) {
    return results.values().stream().collect(
        Collectors.groupingBy(result -> result.behaviour + "/" + result.close, TreeMap::new,
            Collectors.counting()));
  }

  private static Map<String, Result> run(String agent, int port) throws Exception {
    var folder = Files.createDirectories(REPORTS.resolve(agent));
    var running = new ProcessBuilder(ProcessHandle.current().info().command().orElse("java"),
        "-cp", classPath(), FuzzingClient.class.getName(), agent, "ws://127.0.0.1:" + port,
        System.getProperty("autobahn.cases", "*"), LEFT_OUT).directory(folder.toFile())
        .redirectErrorStream(true).start();
    var results = new TreeMap<String, Result>();
    var output = new ArrayList<String>();
    try (var lines = running.inputReader()) {
      lines.lines().forEach(line -> {
        output.add(line);
        if (line.startsWith(FuzzingClient.RESULT)) {
          var words = line.substring(FuzzingClient.RESULT.length()).split(" ");
          results.put(words[0], new Result(words[1], words[2]));
        }
      });
    }
    assertThat(running.waitFor()).as(String.join("\n", output)).isZero();
    return results;
  }

  /** The suite, what it runs on, and its program here. */
  private static String classPath() throws ClassNotFoundException {
    var places = new ArrayList<String>();
    for (String name : List.of("me.normanmaurer.maven.autobahntestsuite.AutobahnTestSuite",
        "org.python.core.PyObject", "org.json.simple.JSONObject",
        FuzzingClient.class.getName())) {
      var type = Class.forName(name, false, AutobahnSuite.class.getClassLoader());
      places.add(Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath())
          .toAbsolutePath().toString());
    }
    return String.join(File.pathSeparator, places);
  }
}
