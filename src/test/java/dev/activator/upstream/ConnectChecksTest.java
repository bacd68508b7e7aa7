package dev.activator.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.NettyLoop;
import dev.activator.revision.Destination;
import dev.activator.testing.FullPod;
import dev.activator.testing.ScriptedPod;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ConnectChecksTest {
  private final BlockingQueue<String> outcomes = new LinkedBlockingQueue<>();
  private MultiThreadIoEventLoopGroup group = group(EpollIoHandler.newFactory());

  private static MultiThreadIoEventLoopGroup group(IoHandlerFactory handlers) {
    return new MultiThreadIoEventLoopGroup(1, handlers);
  }

  @AfterEach
  void stop() {
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  private String checked(Destination destination) throws InterruptedException {
    var loop = new NettyLoop(group.next());
    loop.execute(() -> new ConnectChecks(loop).check(destination, () -> outcomes.add("refused"),
        () -> outcomes.add("other")));
    return outcomes.poll(120, TimeUnit.SECONDS);
  }

  @Test
  void saysThatNothingListens() throws Exception {
    assertThat(checked(ScriptedPod.nobody())).isEqualTo("refused");
  }

  @Test
  void closesTheConnection_whenSomethingListens() throws Exception {
    var received = new LinkedBlockingQueue<String>();
    try (var pod = new ScriptedPod(caller -> received.add(caller.readToEnd()))) {
      assertThat(checked(pod.destination())).isEqualTo("other");
      assertThat(received.poll(120, TimeUnit.SECONDS)).isEmpty();
    }
  }

  @Test
  void doesNotWaitForAHostThatSaysNothing() throws Exception {
    try (var full = new FullPod()) {
      assertThat(checked(full.destination())).isEqualTo("other");
    }
  }

  @Test
  void leavesNamesToTheDial() throws Exception {
    assertThat(checked(new Destination("nowhere.invalid", 80))).isEqualTo("other");
  }

  @Test
  void findsOutNothing_withoutTheNativeTransport() throws Exception {
    stop();
    group = group(NioIoHandler.newFactory());

    assertThat(checked(ScriptedPod.nobody())).isEqualTo("other");
  }

  @Test
  void runsOneOutcome() throws Exception {
    checked(ScriptedPod.nobody());
    checked(ScriptedPod.nobody());

    assertThat(outcomes).isEmpty();
  }
}
