package dev.activator.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Pages name the tests that hold what they promise. */
class NamedTestsTest {
  private static final Pattern NAME = Pattern.compile("`([A-Z][A-Za-z0-9]*(Test|IT))`");

  private static Set<String> tests() throws IOException {
    try (var files = Files.walk(Path.of("src"))) {
      return files.map(file -> file.getFileName().toString().replace(".java", ""))
          .collect(Collectors.toSet());
    }
  }

  @Test
  void exist() throws Exception {
    var tests = tests();

    assertThat(Page.all()).flatExtracting(page -> NAME.matcher(String.join("\n", page.text()))
        .results().map(found -> page + ": " + found.group(1)).toList())
        .hasSizeGreaterThan(50).allMatch(named -> tests.contains(named.replaceAll(".*: ", "")));
  }
}
