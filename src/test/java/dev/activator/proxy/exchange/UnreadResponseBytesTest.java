package dev.activator.proxy.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.NettyLoop;
import dev.activator.proxy.policy.UnreadResponseBudget;
import dev.activator.testing.VirtualLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class UnreadResponseBytesTest {
  private static final int CALLERS = 1_000;

  private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final NettyLoop loop = new NettyLoop(group.next());
  private final UnreadResponseBytes unread = new UnreadResponseBytes(
      new UnreadResponseBudget(1_000));
  private final UnreadResponseBytes.Share share = unread.share(loop);
  private final CompletableFuture<Integer> endedBeforeOthers = new CompletableFuture<>();
  private final CompletableFuture<Void> within = new CompletableFuture<>();
  private final Queue<UnreadResponseBytes.Account> accounts = new ConcurrentLinkedQueue<>();
  private int ended;

  private UnreadResponseBytes.Account account(UnreadResponseBytes.Share of, EmbeddedChannel channel,
      UnreadResponseBytes.CallerConnection caller) {
    var account = of.account(channel, caller, 0);
    accounts.add(account);
    return account;
  }

  @AfterEach
  void callersLeave() {
    accounts.forEach(UnreadResponseBytes.Account::close);
  }

  @Test
  void servesOtherConnectionsBetweenTheConnectionsThatItEnds() throws Exception {
    try {
      loop.execute(() -> {
        var channel = new EmbeddedChannel();
        for (int i = 0; i < CALLERS; i++) {
          account(share, channel, new Caller(100)).measure();
        }
      });

      assertThat(endedBeforeOthers.get(120, TimeUnit.SECONDS)).isBetween(1, 16);
      // and it goes on until the rest is within the budget
      within.get(120, TimeUnit.SECONDS);
    } finally {
      group.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }

  @Test
  void endsOthersWhileTheSlowestHaveNothingThatCouldBeEnded() throws Exception {
    try {
      loop.execute(() -> {
        var channel = new EmbeddedChannel();
        for (int i = 0; i < 20; i++) {
          account(share, channel, new SlowSocket()).measure();
        }
        for (int i = 0; i < CALLERS; i++) {
          account(share, channel, new Caller(100)).measure();
        }
      });

      within.get(120, TimeUnit.SECONDS);
    } finally {
      group.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }

  @Test
  void waitsOnceForCallersThatMayStall() {
    var virtual = VirtualLoop.nearOverflow();
    var share = unread.share(virtual);
    for (int i = 0; i < 10; i++) {
      account(share, new EmbeddedChannel(), new SlowSocket()).measure();
      virtual.run();
    }

    assertThat(virtual.pending()).isOne();
    group.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void endsConnectionsOfAnotherLoopOnceThoseOfTheFirstHaveGone() {
    var first = VirtualLoop.nearOverflow();
    var second = VirtualLoop.nearOverflow();
    var leaving = account(unread.share(first), new EmbeddedChannel(), new Caller(3_000));
    leaving.measure();
    account(unread.share(second), new EmbeddedChannel(), new Caller(2_000)).measure();

    leaving.close();
    first.run();
    second.run();

    assertThat(ended).isOne();
    group.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void endsConnectionsOfAnotherLoopWhileThoseOfTheFirstAreStillRead() {
    var first = VirtualLoop.nearOverflow();
    var second = VirtualLoop.nearOverflow();
    var read = new Reader(3_000);
    var leaving = unread.share(first).account(new EmbeddedChannel(), read, 0);
    leaving.measure();
    var stalled = unread.share(second).account(new EmbeddedChannel(), new Caller(2_000), 0);
    stalled.measure();
    accounts.addAll(List.of(leaving, stalled));

    read.left = 100;
    leaving.measure();
    first.advance(Duration.ofSeconds(1));
    second.advance(Duration.ofSeconds(1));

    assertThat(ended).isOne();
    group.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private static final class Reader implements UnreadResponseBytes.CallerConnection {
    private long left;

    Reader(long left) {
      this.left = left;
    }

    @Override
    public long queuedBytes() {
      return left;
    }

    @Override
    public boolean endUnread(long bytes) {
      return false;
    }
  }

  private final class Caller implements UnreadResponseBytes.CallerConnection {
    private long held;

    Caller(long held) {
      this.held = held;
    }

    @Override
    public long queuedBytes() {
      return held;
    }

    @Override
    public boolean endUnread(long bytes) {
      held = 0;
      if (ended++ == 0) {
        // Runs in the loop's next turn, like the reads of other connections.
        loop.schedule(Duration.ZERO, () -> endedBeforeOthers.complete(ended));
      }
      if (CALLERS - ended <= 10) {
        within.complete(null);
      }
      return true;
    }
  }

  /** Its bytes are on their way in the socket, which takes some now and then. */
  private record SlowSocket() implements UnreadResponseBytes.CallerConnection {
    @Override
    public long queuedBytes() {
      return 10_000;
    }

    @Override
    public boolean endUnread(long bytes) {
      return false;
    }
  }
}
