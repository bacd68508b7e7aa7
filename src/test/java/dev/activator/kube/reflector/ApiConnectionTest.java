package dev.activator.kube.reflector;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.kube.decode.ListWatchParser;
import dev.activator.testing.TestValues;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import jdk.net.ExtendedSocketOptions;
import okhttp3.Request;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Connections to a server that sends what a test says, for as long as it says. */
class ApiConnectionTest {
  private static final String HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";

  @AutoClose
  private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  @AutoClose
  private final KubernetesApiClient api = TestValues.kubernetesApi(config());

  ApiConnectionTest() throws IOException {}

  private String url() {
    return "http://127.0.0.1:" + server.getLocalPort();
  }

  private Config config() {
    var config = Config.empty();
    config.setMasterUrl(url());
    config.setRequestTimeout(30_000);
    return config;
  }

  /** Answers one request with the beginning of a response. */
  private CompletableFuture<Socket> answers(String text) {
    return sends(HEAD + text);
  }

  private CompletableFuture<Socket> sends(String text) {
    return CompletableFuture.supplyAsync(() -> {
      try {
        var socket = server.accept();
        assertThat(socket.getInputStream().read()).isNotNegative();
        socket.getOutputStream().write(text.getBytes(UTF_8));
        return socket;
      } catch (IOException failure) {
        throw new AssertionError(failure);
      }
    }, task -> Thread.ofVirtual().start(task));
  }

  /** Reads the rest of the request, and returns once the client has closed the connection. */
  private static void awaitEnd(Socket socket) throws IOException {
    try (socket) {
      socket.setSoTimeout(120_000);
      while (socket.getInputStream().read() >= 0) {
        // the rest of the request
      }
    } catch (java.net.SocketException reset) {
      // as good as an end
    }
  }

  @ParameterizedTest
  @CsvSource({"20, 20", "0, 0", "9999999, 9999999", "99999999999999999, 99999999999999999", "-1, 0",
      "'Sun, 06 Nov 1994 08:49:37 GMT', 0"})
  void readsHowLongTheServerWantsToBeLeftAlone(String header, long seconds) throws Exception {
    var answered = sends("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\nRetry-After: "
        + header + "\r\n\r\n");

    var refused = api.get("version", ofMinutes(10), ListWatchParser::gitVersion)
        .handle((_, failure) -> (KubernetesApiException) failure.getCause())
        .get(120, TimeUnit.SECONDS);

    assertThat(refused.retryAfter()).isEqualTo(ofSeconds(seconds));
    answered.get(120, TimeUnit.SECONDS).close();
  }

  @Test
  void cancellingAnAnswerEndsItsRequest() throws Exception {
    var answered = answers("{\"gitVersion\":");
    var version = api.get("version", ofMinutes(10), ListWatchParser::gitVersion);
    var socket = answered.get(120, TimeUnit.SECONDS);

    version.cancel(true);

    awaitEnd(socket);
  }

  /** Receives a stream, and keeps its chunks until the test handles them. */
  private static final class Held implements LineStream.Listener {
    private final BlockingQueue<Runnable> chunks = new LinkedBlockingQueue<>();
    private final CompletableFuture<Throwable> end = new CompletableFuture<>();
    private final @Nullable Error failure;

    Held(@Nullable Error failure) {
      this.failure = failure;
    }

    @Override
    public void opened() {
      // as expected
    }

    @Override
    public void line(byte[] bytes, int from, int length) {
      if (failure != null) {
        throw failure;
      }
    }

    @Override
    public void chunkRead(Runnable handled) {
      chunks.add(handled);
    }

    @Override
    public void ended(@Nullable Throwable failed) {
      end.complete(failed);
    }
  }

  @Test
  void readsNoFurtherThanEventsAreHandled() throws Exception {
    var answered = answers("");
    var held = new Held(null);
    var stream = api.stream("api/v1/pods?watch=true", ofMinutes(10), held);
    try (var writer = Executors.newSingleThreadExecutor();
        var socket = answered.get(120, TimeUnit.SECONDS)) {
      var writing = CompletableFuture.runAsync(() -> {
        var line = ("x".repeat(1023) + "\n").getBytes(UTF_8);
        try {
          for (int i = 0; i < 64 << 10; i++) {
            socket.getOutputStream().write(line);
          }
        } catch (IOException closed) {
          // by the end of the test
        }
      }, writer);

      // when a chunk is not handled, then one other is read meanwhile, and no third
      var unhandled = held.chunks.poll(120, TimeUnit.SECONDS);
      for (int chunk = 0; chunk < 50; chunk++) {
        assertThat(unhandled).isNotNull();
        var next = held.chunks.poll(120, TimeUnit.SECONDS);
        assertThat(held.chunks).isEmpty();
        unhandled.run();
        unhandled = next;
      }
      assertThat(writing).isNotDone();
      stream.close();
    }
  }

  @Test
  void anErrorWhileAnEventIsDecodedEndsTheStream() throws Exception {
    var failure = new StackOverflowError();
    var held = new Held(failure);
    var answered = answers("{}\n");
    api.stream("api/v1/pods?watch=true", ofMinutes(10), held);

    assertThat(held.end.get(120, TimeUnit.SECONDS)).isSameAs(failure);
    awaitEnd(answered.get(120, TimeUnit.SECONDS));
  }

  @Test
  void noticesADeadPeerWithinTwentySecondsOfSilence() throws Exception {
    var socket = new AtomicReference<Socket>();
    var threads = Executors.newCachedThreadPool();
    var client = new KubernetesHttpClientFactory(config(), null, threads).newOkHttpClientBuilder()
        .addNetworkInterceptor(chain -> {
          socket.set(chain.connection().socket());
          return chain.proceed(chain.request());
        }).build();
    var answered = answers("");
    try (var _ = client.newCall(new Request.Builder().url(url()).build()).execute();
        var _ = answered.get(120, TimeUnit.SECONDS)) {
      var used = socket.get();
      assertThat(used.getOption(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
      int idle = used.getOption(ExtendedSocketOptions.TCP_KEEPIDLE);
      int interval = used.getOption(ExtendedSocketOptions.TCP_KEEPINTERVAL);
      int probes = used.getOption(ExtendedSocketOptions.TCP_KEEPCOUNT);
      assertThat(ofSeconds(idle + (long) interval * probes)).isLessThan(ofSeconds(20));
    } finally {
      threads.shutdown();
    }
  }
}
