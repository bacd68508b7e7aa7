package dev.activator.ext.coldstarts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.RevisionAnnotations;
import org.junit.jupiter.api.Test;

class ServerTimingAnnotationTest {
  @Test
  void acceptsOneValue() {
    assertThat(RevisionAnnotations.problem("activator.dev/server-timing", "enabled")).isEmpty();
    assertThat(RevisionAnnotations.problem("activator.dev/server-timing", "true"))
        .contains("'true' is ignored: it must be enabled");
  }
}
