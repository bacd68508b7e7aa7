package dev.activator.ext.warmup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.LoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class JvmWarmUpTest {
  private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(2,
      NioIoHandler.newFactory());
  private final LoopGroup loops = new LoopGroup(group);

  @AfterEach
  void close() {
    group.shutdownGracefully(0, 1, java.util.concurrent.TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void sendsRequestsInBothVersionsOfHttpUntilAllAreAnswered() {
    var warmUp = new JvmWarmUp(group, loops, new Random(1), 40);

    assertThat(warmUp.run(Duration.ofMinutes(2))).isEqualTo(40);
  }

  @Test
  void endsWhenItsTimeIsOver() {
    var warmUp = new JvmWarmUp(group, loops, new Random(1), Integer.MAX_VALUE);

    assertThat(warmUp.run(Duration.ofMillis(10))).isLessThan(Integer.MAX_VALUE);
  }

  /** The event loops end next, and its connections are closed on them. */
  @Test
  void hasEnded_onceItIsStopped() {
    var warmUp = new JvmWarmUp(group, loops, new Random(1), Integer.MAX_VALUE);
    var runs = new CompletableFuture<Thread>();
    var thread = new JvmWarmUpThread(() -> {
      runs.complete(Thread.currentThread());
      warmUp.run(Duration.ofMinutes(2));
    });
    thread.begin();
    var started = runs.join();

    thread.stop();

    assertThat(started.isAlive()).isFalse();
  }

  @Test
  void startsItsOwnRevisionFromZeroAgainAndAgain() {
    var warmUp = new ColdStartWarmUp(group, loops, new Random(1), 20);

    assertThat(warmUp.run(Duration.ofMinutes(2))).isEqualTo(20);
  }
}
