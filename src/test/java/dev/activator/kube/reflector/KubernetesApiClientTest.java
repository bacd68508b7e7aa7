package dev.activator.kube.reflector;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.discovery.decode.KnativeKinds;
import dev.activator.kube.decode.ListWatchParser;
import dev.activator.kube.decode.ObjectDecodeResult;
import dev.activator.kube.decode.ListWatchParser.WatchEvent;
import dev.activator.revision.Revision;
import dev.activator.testing.TestValues;
import io.fabric8.kubernetes.client.Config;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What must not depend on what the client library does before a request, or on odd objects. */
class KubernetesApiClientTest {
  private static final int DEEP = 5_000;

  private final BlockingQueue<Thread> tokensAskedOn = new LinkedBlockingQueue<>();
  @AutoClose
  private final KubernetesApiClient api = TestValues.kubernetesApi(config());

  private Config config() {
    var config = Config.empty();
    config.setMasterUrl("http://127.0.0.1:1");
    config.setRequestTimeout(10_000);
    config.setOauthTokenProvider(() -> {
      tokensAskedOn.add(Thread.currentThread());
      return "token";
    });
    return config;
  }

  @Test
  void doesNotWaitForATokenBeforeAnAnswerIsRead() throws Exception {
    api.get("version", ofSeconds(5), ListWatchParser::gitVersion).exceptionally(_ -> "").get();

    assertThat(tokensAskedOn.poll(120, TimeUnit.SECONDS)).isNotNull()
        .isNotSameAs(Thread.currentThread());
  }

  @Test
  void doesNotWaitForATokenBeforeAStream() throws Exception {
    var ended = new CompletableFuture<Void>();
    api.stream("api/v1/pods?watch=true", ofSeconds(5), new Unheard(ended));

    ended.get();
    assertThat(tokensAskedOn.poll(120, TimeUnit.SECONDS)).isNotNull()
        .isNotSameAs(Thread.currentThread());
  }

  @Test
  void endsAStreamWhoseRequestCannotBeBuilt() {
    var ended = new CompletableFuture<Void>();
    api.stream("api/v1/namespaces/no namespace/pods", ofSeconds(5), new Unheard(ended));

    assertThat(ended).succeedsWithin(ofSeconds(120));
  }

  @Test
  void failsWithATimeoutExceptionIfThereIsNoAnswer() throws Exception {
    try (var silent = new ServerSocket(0, 200, InetAddress.getLoopbackAddress())) {
      var config = config();
      config.setMasterUrl("http://127.0.0.1:" + silent.getLocalPort());
      try (var client = TestValues.kubernetesApi(config)) {
        var answers = IntStream.range(0, 100).mapToObj(_ -> client.fetch("version", ofMillis(50)))
            .toList();

        assertThat(answers).allSatisfy(answer -> assertThat(answer).failsWithin(ofSeconds(120))
            .withThrowableOfType(ExecutionException.class)
            .withCauseInstanceOf(TimeoutException.class));
      }
    }
  }

  @Test
  void skipsAFieldHoweverDeepItIs() {
    assertThat(revision("\"metadata\":{\"namespace\":\"a\",\"name\":\"b\","
        + "\"resourceVersion\":\"1\"},\"other\":" + deep()))
        .extracting(ObjectDecodeResult::problem).isNull();
  }

  @Test
  void aFieldThatShouldNotBeDeepIsTheProblemOfItsObjectAlone() {
    assertThat(revision("\"metadata\":{\"namespace\":\"a\",\"name\":\"b\","
        + "\"resourceVersion\":\"1\"},\"spec\":{\"containerConcurrency\":" + deep() + "}")
        .problem())
        .startsWith("spec.containerConcurrency must be").hasSizeLessThan(200);
  }

  private ObjectDecodeResult<Revision> revision(String fields) {
    var bytes = ("{\"type\":\"ADDED\",\"object\":{" + fields + "}}").getBytes(UTF_8);
    var event = ListWatchParser.event(KnativeKinds.REVISIONS,
        () -> api.parser(bytes, 0, bytes.length));
    return ((WatchEvent.Put<ObjectDecodeResult<Revision>>) event).now().object();
  }

  private static String deep() {
    return "[".repeat(DEEP) + "]".repeat(DEEP);
  }

  private record Unheard(CompletableFuture<Void> end)
      implements LineStream.Listener {
    @Override
    public void opened() {
      // not here
    }

    @Override
    public void line(byte[] bytes, int from, int length) {
      // as above
    }

    @Override
    public void chunkRead(Runnable handled) {
      handled.run();
    }

    @Override
    public void ended(@Nullable Throwable failure) {
      end.complete(null);
    }
  }
}
