package dev.activator.upstream;

import dev.activator.upstream.Dialer.DialBackoff;
import dev.activator.testing.TestRevisions;
import dev.activator.testing.FreePort;
import dev.activator.tls.PodTls;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.LoopGroup;
import dev.activator.loop.NettyLoop;
import dev.activator.loop.TcpKeepAlive;
import dev.activator.revision.Destination;
import dev.activator.revision.PodTransport.PodIdentity;
import dev.activator.tls.DialTarget;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslHandler;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DialerTest {
  /** The first byte of a TLS record; RFC 8446, section 5.1. */
  private static final int HANDSHAKE_RECORD = 22;

  private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final LoopGroup loops = new LoopGroup(group);
  private final Dialer dialer = new Dialer(loops.all().getFirst(), TcpKeepAlive.TO_PODS,
      new DialBackoff(new Random(1)), new PodTls(TestRevisions.unused()));

  @AfterEach
  void stop() {
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  @Test
  void reportsRefused_whenAConnectionConnectsToItself() throws Exception {
    // given a pod that has just ended, and a connection that leaves from the very port it had
    var gone = new Destination("127.0.0.1", FreePort.next());
    var caller = new FromWhereItGoes();

    // when it is dialed
    dialer.dial(DialTarget.plain(gone), caller);

    // then nobody is there
    assertThat(caller.outcome.get(120, TimeUnit.SECONDS)).isEqualTo(UpstreamFailure.REFUSED);
  }

  @Test
  void connects_ifTheKernelRefusesAnOption() throws Exception {
    // given a time of keep-alive that is too long for the kernel
    var refused = new TcpKeepAlive(Duration.ofDays(2), Duration.ofSeconds(5), 3);
    var caller = new Recorder();
    var epoll = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    try (var pod = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      var dialing = new Dialer(new LoopGroup(epoll).all().getFirst(), refused,
          new DialBackoff(new Random(1)), new PodTls(TestRevisions.unused()));

      // when a pod is dialed
      dialing.dial(DialTarget.plain(new Destination("127.0.0.1", pod.getLocalPort())), caller);

      // then it is connected
      var connected = caller.outcome.get(120, TimeUnit.SECONDS);
      assertThat(connected).isInstanceOf(Channel.class);
      // Before the pod, which would reset it.
      ((Channel) connected).close().awaitUninterruptibly();
    } finally {
      epoll.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
    }
  }

  /** As of a pod that is 140 ms away. */
  @Test
  void usesTheFirstAttempt_ifItsAnswerComesAfterOthersHaveBegun() throws Exception {
    try (var pod = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      // given an attempt that is answered when a third one begins
      var caller = new Held(3);

      // when the pod is dialed
      dialer.dial(DialTarget.plain(new Destination("127.0.0.1", pod.getLocalPort())), caller);

      // then it is used, and the others end
      var first = caller.attempts.get(120, TimeUnit.SECONDS).getFirst();
      assertThat(caller.outcome.get(120, TimeUnit.SECONDS)).isSameAs(first);
      for (var other : caller.attempts.join().subList(1, 3)) {
        assertThat(other.closeFuture().await(120, TimeUnit.SECONDS)).isTrue();
      }
      assertThat(first.isActive()).isTrue();
      first.close().awaitUninterruptibly();
    }
  }

  @Test
  void endsAllAttempts_whenOneIsRefused() throws Exception {
    // given an attempt without an answer, until another one begins
    var caller = new Held(2);

    // when a port is dialed where no server listens
    dialer.dial(DialTarget.plain(new Destination("127.0.0.1", FreePort.next())), caller);

    // then no more begin
    assertThat(caller.outcome.get(120, TimeUnit.SECONDS)).isEqualTo(UpstreamFailure.REFUSED);
    for (var attempt : caller.attempts.join()) {
      assertThat(attempt.closeFuture().await(120, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void letsTheOthersGoOn_whenThereIsNoSocketForAnother() throws Exception {
    try (var pod = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      // given an activator with one more file descriptor, and an attempt without an answer
      var caller = new Held(2);
      var sockets = new AtomicInteger();
      var few = new NettyLoop(group.next()) {
        @Override
        public SocketChannel newSocket() {
          if (sockets.incrementAndGet() == 2) {
            caller.sendAll();
            throw new ChannelException("Too many open files");
          }
          return super.newSocket();
        }
      };
      var dialing = new Dialer(few, TcpKeepAlive.TO_PODS, new DialBackoff(new Random(1)),
          new PodTls(TestRevisions.unused()));

      // when the pod is dialed
      dialing.dial(DialTarget.plain(new Destination("127.0.0.1", pod.getLocalPort())), caller);

      // then that attempt is used
      assertThat(caller.outcome.get(120, TimeUnit.SECONDS)).isInstanceOf(Channel.class);
      ((Channel) caller.outcome.join()).close().awaitUninterruptibly();
    }
  }

  @Test
  void letsTheOthersGoOn_whenOneFailsWithoutAnAnswerOfThePod() throws Exception {
    try (var pod = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      // given an attempt without an answer, and another for which no local port is free
      var caller = new Recorder() {
        private @Nullable Runnable first;

        @Override
        public void addHandlers(ChannelPipeline pipeline) {
          pipeline.addLast(new ChannelOutboundHandlerAdapter() {
            @Override
            public void connect(ChannelHandlerContext context, SocketAddress remote,
                SocketAddress local, ChannelPromise promise) {
              if (first == null) {
                first = () -> context.connect(remote, local, promise);
              } else {
                promise.setFailure(new BindException("Cannot assign requested address"));
                context.executor().execute(first);
              }
            }
          });
        }
      };

      // when the pod is dialed
      dialer.dial(DialTarget.plain(new Destination("127.0.0.1", pod.getLocalPort())), caller);

      // then the first is used
      assertThat(caller.outcome.get(120, TimeUnit.SECONDS)).isInstanceOf(Channel.class);
      ((Channel) caller.outcome.join()).close().awaitUninterruptibly();
    }
  }

  @Test
  void letsFourAttemptsGoOn() throws Exception {
    try (var pod = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      // given attempts without an answer, until the fifth begins
      var caller = new Held(5);

      // when the pod is dialed
      dialer.dial(DialTarget.plain(new Destination("127.0.0.1", pod.getLocalPort())), caller);

      // then the first has ended
      var attempts = caller.attempts.get(120, TimeUnit.SECONDS);
      assertThat(attempts.getFirst().closeFuture().await(120, TimeUnit.SECONDS)).isTrue();

      // and the second is used
      assertThat(caller.outcome.get(120, TimeUnit.SECONDS)).isSameAs(attempts.get(1));
      attempts.get(1).close().awaitUninterruptibly();
    }
  }

  @Test
  void givesAHandshakeMoreTimeThanAnAttemptToConnect() throws Exception {
    // given a pod that accepts, and says nothing
    try (var pod = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      var caller = new Recorder();
      var dial = dialer.dial(
          new DialTarget(new Destination("127.0.0.1", pod.getLocalPort()),
              new PodIdentity.OfNamespace("default")),
          caller);
      try (var accepted = pod.accept()) {
        // when it has received the first message of the handshake
        assertThat(accepted.getInputStream().read()).isEqualTo(HANDSHAKE_RECORD);
        var handler = caller.pipeline.get(120, TimeUnit.SECONDS).get(SslHandler.class);

        // then the handshake goes on
        assertThat(dial.graceNanos()).isPositive();
        assertThat(handler.getHandshakeTimeoutMillis()).isEqualTo(5_000);

        // and ends if the dial is cancelled
        loops.all().getFirst().execute(dial::cancel);
        assertThat(caller.outcome.get(120, TimeUnit.SECONDS)).isEqualTo("cancelled");
        assertThat(dial.graceNanos()).isZero();
      }
    }
  }

  /** Its connections leave from the address they go to. */
  private static final class FromWhereItGoes extends Recorder {
    @Override
    public void addHandlers(ChannelPipeline pipeline) {
      pipeline.addLast(new ChannelOutboundHandlerAdapter() {
        @Override
        public void connect(ChannelHandlerContext context, SocketAddress remote,
            SocketAddress local, ChannelPromise promise) {
          context.connect(remote, remote, promise);
        }
      });
    }
  }

  /** Its attempts to connect are sent, oldest first, when so many have begun. */
  private static final class Held extends Recorder {
    final CompletableFuture<List<Channel>> attempts = new CompletableFuture<>();
    private final int until;
    private final List<Channel> begun = new ArrayList<>();
    private final List<Runnable> held = new ArrayList<>();

    Held(int until) {
      this.until = until;
    }

    void sendAll() {
      attempts.complete(List.copyOf(begun));
      held.forEach(Runnable::run);
    }

    @Override
    public void addHandlers(ChannelPipeline pipeline) {
      pipeline.addLast(new ChannelOutboundHandlerAdapter() {
        @Override
        public void connect(ChannelHandlerContext context, SocketAddress remote,
            SocketAddress local, ChannelPromise promise) {
          begun.add(context.channel());
          held.add(() -> context.connect(remote, local, promise));
          if (begun.size() == until) {
            sendAll();
          }
        }
      });
    }
  }

  private static class Recorder implements Dialer.DialListener {
    final CompletableFuture<Object> outcome = new CompletableFuture<>();
    final CompletableFuture<ChannelPipeline> pipeline = new CompletableFuture<>();

    @Override
    public void addHandlers(ChannelPipeline of) {
      pipeline.complete(of);
    }

    @Override
    public void connected(Channel channel) {
      outcome.complete(channel);
    }

    @Override
    public void failed(UpstreamFailure failure) {
      outcome.complete(failure);
    }

    @Override
    public void cancelled() {
      outcome.complete("cancelled");
    }
  }
}
