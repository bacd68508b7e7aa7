package dev.activator.ext.asleep;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.activator.ext.asleep.policy.IdleTarget;
import dev.activator.ext.asleep.policy.ShrinkSpec;
import dev.activator.ext.asleep.policy.SleepCalls;
import dev.activator.loop.NettyLoop;
import dev.activator.revision.Destination;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleTargetRef;
import dev.activator.testing.FreePort;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests that put pods to sleep, to one that answers as vLLM does. */
class HttpSleepTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");

  private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(1,
      NioIoHandler.newFactory());
  private final HttpSleep sleep = new HttpSleep(new NettyLoop(threads.next()));
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private HttpServer vllm;
  private Destination pod;
  private volatile boolean asleep;
  /** How many questions are answered before the last POST has an effect. */
  private volatile int late;
  private volatile int status = 200;
  /** Whether it answers no question. */
  private volatile boolean silent;
  /** Whether it compresses what it may. */
  private volatile boolean compresses;

  @BeforeEach
  void start() throws IOException {
    vllm = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    vllm.createContext("/", exchange -> {
      var call = exchange.getRequestMethod() + " " + exchange.getRequestURI();
      calls.add(call);
      if (call.equals("GET /is_sleeping")) {
        if (silent) {
          return;
        }
        boolean answer = late > 0 ? !asleep : asleep;
        late--;
        var body = ("{\"is_sleeping\":" + answer + "}").getBytes();
        if (compresses
            && "gzip".equals(exchange.getRequestHeaders().getFirst("Accept-Encoding"))) {
          exchange.getResponseHeaders().set("Content-Encoding", "gzip");
          body = zipped(body);
        }
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
      } else {
        asleep = call.equals("POST /sleep?level=1");
        exchange.sendResponseHeaders(status, -1);
      }
      exchange.close();
    });
    vllm.start();
    pod = new Destination("127.0.0.1", vllm.getAddress().getPort());
  }

  @AfterEach
  void stop() {
    vllm.stop(0);
    threads.shutdownGracefully(0, 5, TimeUnit.SECONDS);
  }

  private static byte[] zipped(byte[] bytes) throws IOException {
    var all = new ByteArrayOutputStream();
    try (var out = new GZIPOutputStream(all)) {
      out.write(bytes);
    }
    return all.toByteArray();
  }

  private static IdleTarget target(SleepCalls calls) {
    return new IdleTarget(new ScaleTargetRef("apps/v1", "Deployment", "model"), "sleep",
        Duration.ZERO, Duration.ZERO, calls, ShrinkSpec.NONE);
  }

  private String sleep() {
    return sleep.sleep(WEB, List.of(pod), target(SleepCalls.DEFAULT)).join();
  }

  @Test
  void itIsAsleep_onceItSaysSo() {
    late = 2;

    assertThat(sleep()).isEmpty();

    assertThat(calls).containsExactly("POST /sleep?level=1", "GET /is_sleeping",
        "GET /is_sleeping", "GET /is_sleeping");
  }

  @Test
  void itIsAsleep_ifItsServerCompressesAnswers() {
    compresses = true;

    assertThat(sleep()).isEmpty();
  }

  @Test
  void itIsAwake_onceItSaysSo() {
    asleep = true;

    assertThat(sleep.wake(WEB, List.of(pod), target(SleepCalls.DEFAULT)).join()).isEmpty();

    assertThat(calls).containsExactly("POST /wake_up", "GET /is_sleeping");
  }

  @Test
  void theStatusCounts_withoutAPathForTheQuestion() {
    var own = new SleepCalls("/rest", "/go", "", Duration.ofSeconds(5));

    assertThat(sleep.sleep(WEB, List.of(pod), target(own)).join()).isEmpty();

    assertThat(calls).containsExactly("POST /rest");
  }

  @Test
  void anotherStatusIsAProblem() {
    status = 404;

    assertThat(sleep()).isEqualTo("POST http://" + pod + "/sleep?level=1 was answered with 404");
  }

  @Test
  void aRedirectIsNotFollowed() {
    status = 302;

    assertThat(sleep()).endsWith("was answered with 302");
    assertThat(calls).hasSize(1);
  }

  @Test
  void aPodThatNeverSaysSoIsAProblem() {
    late = Integer.MAX_VALUE;
    var impatient = new SleepCalls("/sleep?level=1", "/wake_up", "/is_sleeping",
        Duration.ofSeconds(1));

    assertThat(sleep.sleep(WEB, List.of(pod), target(impatient)).join()).isEqualTo(
        "http://" + pod + "/is_sleeping does not say in time that it is asleep");
  }

  @Test
  void aPodWhoseNodeIsGoneIsAProblem_beforeTheTimeForSleepIsOver() throws IOException {
    var slow = new SleepCalls("/sleep?level=1", "/wake_up", "/is_sleeping",
        Duration.ofMinutes(10));
    try (var node = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      // Linux drops what arrives while the queue of connections is full, as a node that is gone does.
      var queued = new ArrayList<Socket>();
      for (int i = 0; i < 4; i++) {
        var socket = new Socket();
        queued.add(socket);
        try {
          socket.connect(node.getLocalSocketAddress(), 100);
        } catch (SocketTimeoutException _) {
          break;
        }
      }
      var gone = new Destination("127.0.0.1", node.getLocalPort());

      assertThat(sleep.wake(WEB, List.of(gone), target(slow))).succeedsWithin(1, TimeUnit.MINUTES)
          .isEqualTo("POST http://" + gone + "/wake_up failed: nothing takes connections there");

      for (var socket : queued) {
        socket.close();
      }
    }
  }

  @Test
  void aPodThatDoesNotAnswerTheQuestionIsAProblem() {
    silent = true;
    var impatient = new SleepCalls("/sleep?level=1", "/wake_up", "/is_sleeping",
        Duration.ofSeconds(1));

    assertThat(sleep.sleep(WEB, List.of(pod), target(impatient)).join()).isEqualTo(
        "http://" + pod + "/is_sleeping does not say in time that it is asleep");
  }

  @Test
  void aPodThatIsGoneIsAProblem() {
    var gone = new Destination("127.0.0.1", FreePort.next());

    assertThat(sleep.sleep(WEB, List.of(pod, gone), target(SleepCalls.DEFAULT)).join())
        .isEqualTo(
            "POST http://" + gone + "/sleep?level=1 failed: nothing takes connections there");
  }
}
