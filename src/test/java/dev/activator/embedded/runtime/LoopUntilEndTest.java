package dev.activator.embedded.runtime;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.fail;

import dev.activator.loop.ThreadLoop;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LoopUntilEndTest {
  @Test
  void dropsWhatThreadsReportAfterTheEnd() {
    var ended = new ThreadLoop("ended");
    var loop = new LoopUntilEnd(ended);
    ended.close();

    assertThatCode(() -> loop.execute(() -> fail("it ran"))).doesNotThrowAnyException();
    assertThatCode(() -> loop.schedule(Duration.ZERO, () -> fail("it ran")).cancel())
        .doesNotThrowAnyException();
  }
}
