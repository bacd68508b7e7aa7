package dev.activator.loop;

import io.netty.channel.DefaultEventLoop;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;

class NettyLoopTest extends LoopContract {
  private final DefaultEventLoop eventLoop = new DefaultEventLoop();
  private final Loop loop = new NettyLoop(eventLoop);

  @AfterEach
  void stop() {
    eventLoop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
  }

  @Override
  Loop loop() {
    return loop;
  }
}
