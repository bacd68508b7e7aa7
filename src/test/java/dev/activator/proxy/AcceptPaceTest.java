package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AcceptPaceTest {
  /** The loop of each connection runs its tasks when the test says so. */
  private final List<EmbeddedChannel> accepted = new ArrayList<>();
  private final EmbeddedChannel listening = new EmbeddedChannel(new AcceptPace(1));

  private void accept(int connections) {
    IntStream.range(0, connections).forEach(_ -> {
      var connection = new EmbeddedChannel();
      accepted.add(connection);
      listening.writeInbound(connection);
    });
  }

  private void begin(int connections) {
    for (int i = 0; i < connections; i++) {
      accepted.removeFirst().runPendingTasks();
    }
    listening.runPendingTasks();
  }

  private boolean accepts() {
    return listening.config().isAutoRead();
  }

  @Test
  void pauses_whileALoopHasFourToBeginWith_andGoesOnAtTwo() {
    accept(3);
    assertThat(accepts()).isTrue();
    accept(1);
    assertThat(accepts()).isFalse();

    begin(1);
    assertThat(accepts()).isFalse();
    begin(1);
    assertThat(accepts()).isTrue();

    accept(2);
    assertThat(accepts()).isFalse();
  }

  @Test
  void neverPauses_whileLoopsKeepUp() {
    for (int i = 0; i < 100; i++) {
      accept(1);
      begin(1);
      assertThat(accepts()).isTrue();
    }
  }

  @Test
  void doesNotWaitForAConnectionThatHasNoLoop() {
    for (int i = 0; i < 100; i++) {
      listening.writeInbound((Channel) new NioSocketChannel());
    }
    assertThat(accepts()).isTrue();
  }
}
