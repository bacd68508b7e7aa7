package dev.activator.ext.profiling;

import static org.awaitility.Awaitility.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.config.ObservabilityConfig.Profiling;
import dev.activator.testing.RawPeer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProfilingServerTest {
  private final ProfilingServer server = new ProfilingServer("127.0.0.1", 0);
  private final HttpClient client = HttpClient.newHttpClient();
  private int port;

  @BeforeEach
  void start() throws IOException {
    port = server.start();
  }

  @AfterEach
  void stop() {
    server.stop();
    client.close();
  }

  private HttpResponse<byte[]> get(String path) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofMinutes(2)).build(),
        BodyHandlers.ofByteArray());
  }

  private String text(String path) throws Exception {
    var answer = get(path);
    assertThat(answer.statusCode()).isEqualTo(200);
    return new String(answer.body(), StandardCharsets.UTF_8);
  }

  @ParameterizedTest(name = "{0} is 404 while profiling is off")
  @ValueSource(strings = {"/", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile"})
  void knowsNoPathWhileItIsOff(String path) throws Exception {
    assertThat(get(path).statusCode()).isEqualTo(404);

    server.use(Profiling.ENABLED);
    server.use(Profiling.DISABLED);
    assertThat(get(path).statusCode()).isEqualTo(404);
  }

  @Test
  @DisplayName("it answers once it is switched on")
  void answersOnceItIsOn() throws Exception {
    server.use(Profiling.ENABLED);

    assertThat(text("/debug/pprof/")).contains("goroutine").contains("heap").contains("profile");
    assertThat(text("/debug/pprof/goroutine")).contains("profiling");
    assertThat(text("/debug/pprof/heap")).contains("java.lang.String");
    assertThat(text("/debug/pprof/cmdline")).contains("java");
    assertThat(get("/debug/pprof/nothing").statusCode()).isEqualTo(404);
    assertThat(get("/").statusCode()).isEqualTo(404);
  }

  @ParameterizedTest
  @CsvSource({"Host: localhost:PORT, 200", "Host: evil.example:PORT, 403",
      "Host: localhost:PORT\\r\\nOrigin: http://localhost:3000, 403"})
  void answersNoWebPageFromElsewhere(String headers, int status) throws Exception {
    server.use(Profiling.ENABLED);

    try (var peer = RawPeer.connect(port)) {
      peer.send("GET /debug/pprof/ HTTP/1.1\r\n"
          + headers.replace("\\r\\n", "\r\n").replace("PORT", "" + port) + "\r\n\r\n");
      assertThat(peer.readHead().start()).startsWith("HTTP/1.1 " + status + " ");
    }
  }

  @Test
  @DisplayName("a profile is a flight recording of as many seconds")
  void aProfileIsAFlightRecording() throws Exception {
    server.use(Profiling.ENABLED);

    var answer = get("/debug/pprof/profile?seconds=1");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).startsWith('F', 'L', 'R', 0);
    // and another one can be had after it, which is a moment after its last byte
    await().until(() -> get("/debug/pprof/profile?seconds=1").statusCode() == 200);
  }

  @ParameterizedTest(name = "seconds={0} is 400")
  @CsvSource({"0", "-1", "601", "soon", "''"})
  void refusesALengthThatIsNone(String seconds) throws Exception {
    server.use(Profiling.ENABLED);
    assertThat(get("/debug/pprof/profile?seconds=" + seconds).statusCode()).isEqualTo(400);
  }

  @Test
  void saysWhichPortItCannotHave() throws IOException {
    try (var taken = new ServerSocket(0)) {
      assertThatThrownBy(() -> new ProfilingServer("0.0.0.0", taken.getLocalPort()).start())
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("cannot listen on 0.0.0.0:" + taken.getLocalPort() + ": ");
    }
  }

  @Test
  @DisplayName("a connection without a request is closed after 15 seconds, one with is not")
  void closesAConnectionWithoutARequest() {
    var silent = withHeadDeadline();
    var asking = withHeadDeadline();
    asking.writeInbound(new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/"));

    silent.advanceTimeBy(14, TimeUnit.SECONDS);
    silent.runScheduledPendingTasks();
    assertThat(silent.isOpen()).isTrue();
    silent.advanceTimeBy(2, TimeUnit.SECONDS);
    silent.runScheduledPendingTasks();
    asking.advanceTimeBy(16, TimeUnit.SECONDS);
    asking.runScheduledPendingTasks();

    assertThat(silent.isOpen()).isFalse();
    assertThat(asking.isOpen()).isTrue();
    asking.finishAndReleaseAll();
  }

  /** Its time passes only when told. */
  private static EmbeddedChannel withHeadDeadline() {
    var channel = new EmbeddedChannel();
    channel.freezeTime();
    channel.pipeline().addLast(new ProfilingServer.HeadDeadline(Duration.ofSeconds(15)));
    return channel;
  }
}
