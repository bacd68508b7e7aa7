package dev.activator.embedded;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.Make;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import reactor.netty.resources.LoopResources;

class EmbeddedPlatformTest {
  private static void embedded(Consumer<EmbeddedPlatform> check) {
    var resources = LoopResources.create("wiring", 1, true);
    try {
      check.accept(new EmbeddedPlatform(new EmbeddedPlatform.Settings(0, 0, ofSeconds(6), 1, true),
          Make.scope(),
          resources.onServer(LoopResources.DEFAULT_NATIVE), new Random(1), () -> {
            throw new IllegalStateException("no pod runs");
          }));
    } finally {
      resources.dispose();
    }
  }

  @Test
  void whoRunsTheRevisionsHimselfGetsTheWholeCauseOfAFailedStart() {
    embedded(platform -> assertThat(platform.showsStartMessages()).isTrue());
  }

  @Test
  void anIdleConnectionDoesNotKeepALocalProcessFromAcceptingAnother() {
    embedded(platform -> assertThat(platform.idleTimeout()).isLessThan(ofSeconds(1)));
  }
}
