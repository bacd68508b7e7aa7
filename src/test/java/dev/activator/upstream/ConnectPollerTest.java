package dev.activator.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.NettyLoop;
import dev.activator.loop.policy.RateLimit;
import dev.activator.revision.Destination;
import dev.activator.testing.FullPod;
import dev.activator.testing.ScriptedPod;
import dev.activator.testing.quiescence.Quiescence;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ConnectPollerTest {
  private static final int PER_SECOND = 5_000;

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
    return checked(destination, Duration.ZERO);
  }

  private String checked(Destination destination, Duration limit) throws InterruptedException {
    check(destination, limit);
    return outcomes.poll(120, TimeUnit.SECONDS);
  }

  private void check(Destination destination, Duration limit) {
    var loop = new NettyLoop(group.next());
    var checks = Quiescence
        .watch(new ConnectPoller(loop, new RateLimit(PER_SECOND, loop.nanoTime())));
    loop.execute(() -> checks.check(destination, Duration.ofMillis(5), limit,
        socket -> {
          Dialer.closeUnused(socket);
          outcomes.add("connected");
        }, refused -> outcomes.add(refused ? "refused" : "unknown")));
  }

  @Test
  void saysThatNothingListens() throws Exception {
    assertThat(checked(ScriptedPod.nobody())).isEqualTo("refused");
  }

  @Test
  void handsOverTheConnection_whenSomethingListens() throws Exception {
    var received = new LinkedBlockingQueue<String>();
    try (var pod = new ScriptedPod(caller -> received.add(caller.readToEnd()))) {
      assertThat(checked(pod.destination())).isEqualTo("connected");
      assertThat(received.poll(120, TimeUnit.SECONDS)).isEmpty();
    }
  }

  @Test
  void triesAgain_untilSomethingListens() throws Exception {
    // given a port that refuses connections
    var pod = ScriptedPod.nobody();
    check(pod, Duration.ofMinutes(2));
    assertThat(outcomes.poll(50, TimeUnit.MILLISECONDS)).isNull();

    // when a server begins to listen there
    try (var server = new ServerSocket(pod.port(), 10, InetAddress.getByName(pod.host()))) {
      // then it is found
      assertThat(outcomes.poll(120, TimeUnit.SECONDS)).isEqualTo("connected");
    }
  }

  @Test
  void givesUp_whenNothingListensUntilTheLimit() throws Exception {
    assertThat(checked(ScriptedPod.nobody(), Duration.ofMillis(30))).isEqualTo("refused");
  }

  @Test
  void doesNotWaitForAHostThatSaysNothing() throws Exception {
    try (var full = new FullPod()) {
      assertThat(checked(full.destination())).isEqualTo("unknown");
    }
  }

  @Test
  void leavesNamesToTheDial() throws Exception {
    assertThat(checked(new Destination("nowhere.invalid", 80))).isEqualTo("unknown");
  }

  @Test
  void findsOutNothing_withoutTheNativeTransport() throws Exception {
    stop();
    group = group(NioIoHandler.newFactory());

    assertThat(checked(ScriptedPod.nobody())).isEqualTo("unknown");
  }

  @Test
  void runsOneOutcome() throws Exception {
    checked(ScriptedPod.nobody());
    checked(ScriptedPod.nobody());

    assertThat(outcomes).isEmpty();
  }
}
