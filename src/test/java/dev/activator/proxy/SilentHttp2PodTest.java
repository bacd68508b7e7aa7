package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.activator.loop.TcpKeepAlive;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/**
 * Pods that take a request and then answer not even a PING, though their kernel acknowledges what it
 * is sent. Everything is five times as quick as outside of tests.
 */
class SilentHttp2PodTest {
  abstract static class WithSilentPod extends WireTest {
    final CountDownLatch awake = new CountDownLatch(1);

    @Override
    TcpKeepAlive keepAlive() {
      return new TcpKeepAlive(Duration.ofSeconds(1), Duration.ofSeconds(1), 3);
    }

    /** A pod that answers the first stream, is silent after the second until it is woken. */
    ScriptedPod silentPod() throws IOException {
      return pod(caller -> {
        var http2 = RawHttp2.pod(caller);
        int stream = http2.read(RawHttp2.HEADERS).stream();
        http2.headers(stream, true, ":status", "204");
        stream = http2.read(RawHttp2.HEADERS).stream();
        seen.add(new RawPeer.Head("second", List.of()));
        try {
          awake.await();
        } catch (InterruptedException stopped) {
          throw new IOException(stopped);
        }
        http2.headers(stream, true, ":status", "200");
        caller.awaitEnd();
      });
    }

    RawHttp2 callerOfSilentPod() throws Exception {
      var caller = RawHttp2.caller(activator.connect());
      send(caller, 1);
      assertThat(caller.response(1)).isEqualTo("204 ");
      send(caller, 3);
      seen();
      return caller;
    }

    static void send(RawHttp2 caller, int stream) throws IOException {
      caller.headers(stream, true, ":method", "POST", ":scheme", "http", ":path", "/",
          ":authority", "hello.example", "knative-serving-namespace", "default",
          "knative-serving-revision", "hello-00001");
    }
  }

  @Nested
  class WhereTheKernelCannotBeAsked extends WithSilentPod {
    @Override
    IoHandlerFactory io() {
      return NioIoHandler.newFactory();
    }

    @Test
    void answers502_whenThePodAnswersNoPing() throws Exception {
      silentPod();
      try (var caller = callerOfSilentPod()) {
        var head = caller.read(RawHttp2.HEADERS);
        assertThat(head.field(":status")).isEqualTo("502");
        assertThat(head.field("k-activator-reason")).isEqualTo("pod-unresponsive");
        awake.countDown();
      }
    }
  }

  @Nested
  class WhereTheKernelVouchesForThePod extends WithSilentPod {
    @Test
    void mayAnswerLaterButIsSentNewRequestsOnAnotherConnection() throws Exception {
      assumeTrue(Epoll.isAvailable(), "the kernel cannot be asked here");
      var pod = silentPod();
      try (var caller = callerOfSilentPod()) {
        // when requests come until one is sent on another connection
        var stream = new AtomicInteger(3);
        var often = Duration.ofMillis(500);
        Awaitility.await().pollInterval(often).until(() -> {
          send(caller, stream.addAndGet(2));
          return pod.connections() >= 2;
        });

        // then the one that waits is still answered
        awake.countDown();
        var head = caller.read(RawHttp2.HEADERS);
        while (head.stream() != 3) {
          head = caller.read(RawHttp2.HEADERS);
        }
        assertThat(head.field(":status")).isEqualTo("200");
      }
    }
  }
}
