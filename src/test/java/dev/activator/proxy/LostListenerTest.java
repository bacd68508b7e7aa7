package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class LostListenerTest {
  private final BlockingQueue<String> lost = new LinkedBlockingQueue<>();

  @Test
  @DisplayName("8.3 a port that is not listened on any more is told, by its address")
  void aPortThatIsNotListenedOnAnyMoreIsTold() throws Exception {
    try (var activator = new Activator()) {
      activator.server.onLost(lost::add);
      activator.loseThreads();
      assertThat(lost.poll(30, TimeUnit.SECONDS)).isEqualTo(
          "no requests are taken on 127.0.0.1:" + activator.port + " any more");
    }
  }

  @Test
  void aPortThatIsClosedByADrainIsNotLost() throws Exception {
    try (var activator = new Activator()) {
      activator.server.onLost(lost::add);
      activator.server.drain().toCompletableFuture().get(30, TimeUnit.SECONDS);
      activator.server.close();
    }
    assertThat(lost).isEmpty();
  }
}
