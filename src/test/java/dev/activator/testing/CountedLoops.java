package dev.activator.testing;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import java.util.concurrent.Executor;

/** Event loops whose channels' buffers are counted: none may be left when the loops have ended. */
public final class CountedLoops extends MultiThreadIoEventLoopGroup {
  private final UnpooledByteBufAllocator buffers = new UnpooledByteBufAllocator(true);

  public CountedLoops(int threads, IoHandlerFactory io) {
    super(threads, io);
  }

  /** What buffers take that were not released. */
  public long bufferBytes() {
    return buffers.metric().usedDirectMemory() + buffers.metric().usedHeapMemory();
  }

  @Override
  protected IoEventLoop newChild(Executor executor, IoHandlerFactory io, Object... arguments) {
    return new SingleThreadIoEventLoop(this, executor, io) {
      @Override
      public ChannelFuture register(ChannelPromise promise) {
        promise.channel().config().setAllocator(buffers);
        return super.register(promise);
      }
    };
  }
}
