package dev.activator.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.loop.TcpKeepAlive;
import dev.activator.testing.RawHttp2;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Callers whose requests share an HTTP/2 connection to the pod: what one does must not end those of others. */
class SharedPodConnectionTest extends WireTest {
  private static final String[] GET = {":method", "GET", ":scheme", "http", ":path", "/",
      ":authority", "hello.example", "knative-serving-namespace", "default",
      "knative-serving-revision", "hello-00001"};

  @BeforeEach
  void onOneLoop() throws IOException {
    activator.close();
    activator = new Activator(settings().slow(), tls(), io(), TcpKeepAlive.TO_PODS, 1);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(120, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void servesTheOthers_whenACallerResetsItsConnectionJustBeforeItsResponse() throws Exception {
    // given two requests on one connection to the pod
    var headsRead = new CountDownLatch(2);
    var mayAnswerFirst = new CountDownLatch(1);
    var answeredFirst = new CountDownLatch(1);
    var mayAnswerSecond = new CountDownLatch(1);
    pod(peer -> {
      var pod = RawHttp2.pod(peer);
      int first = pod.read(RawHttp2.HEADERS).stream();
      headsRead.countDown();
      int second = pod.read(RawHttp2.HEADERS).stream();
      headsRead.countDown();
      await(mayAnswerFirst);
      pod.headers(first, true, ":status", "404");
      answeredFirst.countDown();
      await(mayAnswerSecond);
      pod.headers(second, true, ":status", "200");
      peer.awaitEnd();
    });
    try (var leaving = RawHttp2.caller(activator.connect());
        var other = RawHttp2.caller(activator.connect())) {
      leaving.headers(1, true, GET);
      eventually(() -> assertThat(headsRead.getCount()).isOne());
      other.headers(1, true, GET);
      await(headsRead);

      // when the loop finds the end of one caller's connection, and then that caller's response
      var stopped = new CountDownLatch(1);
      var goOn = new CountDownLatch(1);
      activator.onLoop(() -> {
        stopped.countDown();
        await(goOn);
      });
      await(stopped);
      leaving.peer().reset();
      mayAnswerFirst.countDown();
      await(answeredFirst);
      goOn.countDown();

      // then the other is served
      eventually(() -> assertThat(activator.throttle.inFlight()).isOne());
      mayAnswerSecond.countDown();
      assertThat(other.response(1)).isEqualTo("200 ");
    }
  }
}
