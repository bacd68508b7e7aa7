package dev.activator;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class JavaVersionCheckTest {
  @Test
  void saysInASentenceWhichJavaIsNeeded() {
    assertThat(JavaVersionCheck.problem(17, "/usr/lib/jvm/17"))
        .isEqualTo("Cannot start: this is Java 17"
            + " (/usr/lib/jvm/17), and the activator needs Java 25 or later.");
  }

  @Test
  void startsWithTheJavaThatTheClassesAreCompiledFor() throws Exception {
    var pom = Files.readString(Path.of("pom.xml"));
    int version = Integer.parseInt(pom.replaceAll("(?s).*<java.version>(\\d+)</java.version>.*",
        "$1"));

    assertThat(JavaVersionCheck.problem(version, "")).isNull();
    assertThat(JavaVersionCheck.problem(version - 1, "")).isNotNull();
  }
}
