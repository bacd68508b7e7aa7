package dev.activator.embedded.runtime.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The outputs in {@code crashes/outputs.txt} are those of the runtimes, with the line that names the error. */
class CrashMessageFinderTest {
  @TestFactory
  Stream<DynamicTest> namesTheErrorOfEachRuntime() throws IOException {
    try (var from = Objects
        .requireNonNull(CrashMessageFinderTest.class.getResourceAsStream("/crashes/outputs.txt"))) {
      var outputs = new String(from.readAllBytes(), StandardCharsets.UTF_8).split("(?m)^=== ");
      assertThat(outputs).hasSizeGreaterThan(20);
      return Stream.of(outputs).skip(1).map(one -> {
        var lines = one.lines().toList();
        var head = lines.getFirst().split(" \\| ", 2);
        return DynamicTest.dynamicTest(head[0], () -> assertThat(
            CrashMessageFinder.of(lines.subList(1, lines.size()))).isEqualTo(head[1]));
      });
    }
  }

  /** Backtracking would take an hour. */
  @Test
  void readsALineOfBracketsInOnePass() {
    var line = "(".repeat(1_000_000);

    assertTimeoutPreemptively(Duration.ofMinutes(2),
        () -> assertThat(CrashMessageFinder.of(List.of("panic: x", line))).isEqualTo(line));
    assertThat(CrashMessageFinder.of(List.of("panic: x", line + ")"))).isEqualTo("panic: x");
  }

  @Test
  void isEmpty_whenNothingWasPrinted() {
    assertThat(CrashMessageFinder.of(List.of())).isEmpty();
    assertThat(CrashMessageFinder.of(List.of("", "  "))).isEmpty();
  }
}
