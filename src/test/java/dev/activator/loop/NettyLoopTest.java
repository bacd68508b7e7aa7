package dev.activator.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NettyLoopTest {
  private final DefaultEventLoop eventLoop = new DefaultEventLoop();
  private final Loop loop = new NettyLoop(eventLoop);

  @AfterEach
  void stop() {
    eventLoop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
  }

  @Test
  void neverRunsATaskInsideTheCallThatGivesIt() throws Exception {
    var steps = new ArrayList<String>();
    var done = new CompletableFuture<Void>();

    loop.execute(() -> {
      loop.execute(() -> {
        steps.add("second");
        done.complete(null);
      });
      steps.add("first");
    });
    done.get(10, TimeUnit.SECONDS);

    assertThat(steps).containsExactly("first", "second");
  }

  @Test
  void goesOnAfterATaskThatThrows() throws Exception {
    var done = new CompletableFuture<Void>();

    loop.execute(() -> {
      throw new IllegalStateException("on purpose");
    });
    loop.execute(() -> done.complete(null));

    done.get(10, TimeUnit.SECONDS);
  }

  @Test
  void doesNotRunATimerThatWasCancelled() throws Exception {
    var ran = new ArrayList<String>();
    var done = new CompletableFuture<Void>();

    loop.execute(() -> {
      loop.schedule(Duration.ofMillis(1), () -> ran.add("cancelled")).cancel();
      loop.schedule(Duration.ofMillis(5), () -> done.complete(null));
    });
    done.get(10, TimeUnit.SECONDS);

    assertThat(ran).isEmpty();
  }
}
