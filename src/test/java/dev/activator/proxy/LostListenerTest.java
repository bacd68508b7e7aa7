package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.TestRevisions;
import dev.activator.tls.PodTls;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.nio.NioIoHandler;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class LostListenerTest {
  private final BlockingQueue<String> lost = new LinkedBlockingQueue<>();

  @Test
  @DisplayName("reports a port that is not listened on any more, by its address")
  void aPortThatIsNotListenedOnAnyMoreIsReported() throws Exception {
    try (var activator = new Activator()) {
      activator.server.onLost(lost::add);
      activator.loseThreads();
      assertThat(lost.poll(120, TimeUnit.SECONDS)).isEqualTo(
          "no longer listening for requests on 127.0.0.1:" + activator.port);
    }
  }

  @Test
  void aPortWhoseEventLoopEndsWithoutClosingItIsReported() throws Exception {
    IoHandlerFactory forgetful = executor -> new ForgetfulIo(
        NioIoHandler.newFactory().newHandler(executor));
    try (
        var activator = new Activator(Activator.Settings.DEFAULT,
            new PodTls(TestRevisions.unused()), forgetful)) {
      activator.server.onLost(lost::add);
      activator.loseThreads();
      assertThat(lost.poll(120, TimeUnit.SECONDS)).isEqualTo(
          "no longer listening for requests on 127.0.0.1:" + activator.port);
    }
  }

  /** Does not close its channels when its event loop ends, which Netty does now and then. */
  private record ForgetfulIo(IoHandler io) implements IoHandler {
    @Override
    public void initialize() {
      io.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
      return io.run(context);
    }

    @Override
    public void destroy() {
      io.destroy();
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
      return io.register(handle);
    }

    @Override
    public void wakeup() {
      io.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
      return io.isCompatible(type);
    }
  }

  @Test
  void aPortThatIsClosedByADrainIsNotLost() throws Exception {
    try (var activator = new Activator()) {
      activator.server.onLost(lost::add);
      activator.server.drain().toCompletableFuture().get(120, TimeUnit.SECONDS);
      activator.server.close();
    }
    assertThat(lost).isEmpty();
  }
}
