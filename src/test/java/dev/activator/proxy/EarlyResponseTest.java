package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.TestRevisions;
import dev.activator.loop.TcpKeepAlive;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.RawPeer;
import dev.activator.testing.ScriptedPod;
import dev.activator.tls.PodTls;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A pod answers before it has read the body, and resets the connection: the response counts, though
 * writing fails first.
 */
class EarlyResponseTest extends SecuredTest {
  private static final int BODY = 50_000_000;
  private static final String TOO_LARGE = "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\n"
      + "Content-Length: 9\r\n\r\ntoo large";

  enum Wire {
    NATIVE,
    NIO,
    TLS
  }

  private void start(Wire wire) throws IOException {
    activator.close();
    IoHandlerFactory io = wire == Wire.NIO ? NioIoHandler.newFactory() : Activator.nativeIo();
    activator = new Activator(settings(),
        wire == Wire.TLS ? tls() : new PodTls(TestRevisions.unused()), io,
        TcpKeepAlive.TO_PODS, 1);
  }

  /** The event loop does nothing until the latch opens. */
  private CountDownLatch stopLoop() throws InterruptedException {
    var stopped = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    activator.onLoop(() -> {
      stopped.countDown();
      await(goOn);
    });
    await(stopped);
    return goOn;
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(120, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private RawPeer begun(CountDownLatch headRead) throws IOException {
    var caller = activator.connect();
    Activator.request(caller, "POST / HTTP/1.1", "Content-Length: " + BODY);
    await(headRead);
    return caller;
  }

  /** A pod that answers and resets when it is to, and says that it has. */
  private CountDownLatch pod(Wire wire, CountDownLatch headRead, CountDownLatch answer)
      throws IOException {
    var answered = new CountDownLatch(1);
    ScriptedPod.Script script = caller -> {
      caller.readHead();
      headRead.countDown();
      await(answer);
      caller.send(TOO_LARGE);
      caller.reset();
      answered.countDown();
    };
    var _ = wire == Wire.TLS ? secured(script) : pod(script);
    return answered;
  }

  @ParameterizedTest
  @EnumSource(Wire.class)
  void passesTheResponseOn_whenTheNextBytesOfTheBodyMeetTheReset(Wire wire) throws Exception {
    start(wire);
    var headRead = new CountDownLatch(1);
    var answer = new CountDownLatch(1);
    var answered = pod(wire, headRead, answer);
    try (var caller = begun(headRead)) {
      var goOn = stopLoop();
      // First, so that it is read, and written to the pod, before the pod's response is read.
      caller.send(new byte[1_000]);
      answer.countDown();
      await(answered);
      goOn.countDown();

      assertThat(response(caller)).isEqualTo("413 too large");
    }
  }

  @ParameterizedTest
  @EnumSource(Wire.class)
  void passesTheResponseOn_whenBytesOfTheBodyWaitForThePod(Wire wire) throws Exception {
    start(wire);
    var headRead = new CountDownLatch(1);
    var answer = new CountDownLatch(1);
    var answered = pod(wire, headRead, answer);
    try (var caller = begun(headRead)) {
      // As much as the pod's kernel, the activator and the kernels here take.
      var sending = Thread.ofVirtual().start(() -> {
        try {
          caller.send(new byte[BODY - 1]);
        } catch (IOException e) {
          // The connection is closed behind the response.
        }
      });
      eventually(() -> assertThat(activator.held.total()).isPositive());
      var goOn = stopLoop();
      answer.countDown();
      await(answered);
      goOn.countDown();

      assertThat(response(caller)).isEqualTo("413 too large");
      caller.socket().close();
      sending.join();
    }
  }

  private static final String[] POST = {":method", "POST", ":scheme", "http", ":path", "/",
      ":authority", "hello.example", "knative-serving-namespace", "default",
      "knative-serving-revision", "hello-00001"};

  @ParameterizedTest
  @EnumSource(Wire.class)
  void passesTheResponsesOn_inHttp2(Wire wire) throws Exception {
    start(wire);
    var headsRead = new CountDownLatch(1);
    var answer = new CountDownLatch(1);
    var answered = new CountDownLatch(1);
    ScriptedPod.Script script = peer -> {
      var pod = RawHttp2.pod(peer);
      int first = pod.read(RawHttp2.HEADERS).stream();
      int second = pod.read(RawHttp2.HEADERS).stream();
      headsRead.countDown();
      await(answer);
      pod.headers(first, true, ":status", "413").headers(second, false, ":status", "200")
          .data(second, true, "enough");
      peer.reset();
      answered.countDown();
    };
    var _ = wire == Wire.TLS ? secured(script, "h2") : pod(script);
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, false, POST).headers(3, false, POST);
      await(headsRead);
      var goOn = stopLoop();
      caller.data(1, false, "more").data(3, false, "more");
      answer.countDown();
      await(answered);
      goOn.countDown();

      assertThat(caller.responses(2)).containsEntry(1, "413 ").containsEntry(3, "200 enough");
    }
  }

  @ParameterizedTest
  @EnumSource(Wire.class)
  void passesTheResponsesOn_whenBytesWaitForThePodInHttp2(Wire wire) throws Exception {
    start(wire);
    int streams = 250;
    var headsRead = new CountDownLatch(1);
    var answer = new CountDownLatch(1);
    var answered = new CountDownLatch(1);
    ScriptedPod.Script script = peer -> {
      var pod = RawHttp2.pod(peer, RawHttp2.MAX_CONCURRENT_STREAMS, 1_000);
      pod.window(0, 1 << 30);
      int first = pod.read(RawHttp2.HEADERS).stream();
      headsRead.countDown();
      await(answer);
      pod.headers(first, true, ":status", "413");
      peer.reset();
      answered.countDown();
    };
    var _ = wire == Wire.TLS ? secured(script, "h2") : pod(script);
    try (var caller = RawHttp2.caller(activator.connect())) {
      caller.headers(1, false, POST);
      await(headsRead);
      for (int i = 1; i < streams; i++) {
        int stream = 2 * i + 1;
        caller.headers(stream, false, POST).data(stream, false, new byte[16_000])
            .data(stream, false, new byte[16_000]).data(stream, false, new byte[16_000]);
      }
      eventually(() -> assertThat(activator.held.total()).isPositive());
      var goOn = stopLoop();
      answer.countDown();
      await(answered);
      goOn.countDown();

      assertThat(caller.responses(streams)).containsEntry(1, "413 ");
    }
  }
}
