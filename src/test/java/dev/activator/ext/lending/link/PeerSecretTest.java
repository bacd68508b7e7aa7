package dev.activator.ext.lending.link;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.discovery.ClusterWatcher;
import dev.activator.kube.ClusterAccess;
import dev.activator.ext.lending.link.PeerSecret.Answer;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.Make;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PeerSecretTest {
  private final EmbeddedApi api = EmbeddedApi.start();
  private final ClusterWatcher cluster = Make
      .cluster(() -> new ClusterAccess.At(URI.create(api.url())));
  private final PeerSecret secret = new PeerSecret(cluster::api, "knative-serving");

  @BeforeEach
  void start() throws InterruptedException {
    cluster.start();
  }

  @AfterEach
  void close() {
    cluster.close();
    api.close();
  }

  private void exists(String data) {
    api.store().create(BuiltInKinds.SECRET, Objects.parse("""
        {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'namespace': 'knative-serving',
         'name': 'activator-peers', 'labels': {'team': 'a'}}, 'data': %s}
        """.formatted(data)));
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private Answer.Found found() {
    return (Answer.Found) secret.read().join();
  }

  @Test
  void isMade_whereThereIsNone() throws Exception {
    var made = found();

    new PeerTls().use("the test", made.chain(), made.key());
    assertThat(found()).isEqualTo(made);
  }

  @Test
  void isFilled_whereTheChartMadeItEmpty() throws Exception {
    exists("{}");

    var made = found();

    new PeerTls().use("the test", made.chain(), made.key());
    assertThat(found()).isEqualTo(made);
    var stored = api.store().find(BuiltInKinds.SECRET, "knative-serving", "activator-peers");
    assertThat(stored.at("/metadata/labels/team").asString()).as("the rest is kept")
        .isEqualTo("a");
  }

  @Test
  void isTheSameForAll_whoFindItMissingAtOnce() {
    var all = Stream.generate(() -> new PeerSecret(cluster::api, "knative-serving").read()).limit(4)
        .toList();

    assertThat(all.stream().map(CompletableFuture::join).distinct()).hasSize(1)
        .allMatch(Answer.Found.class::isInstance);
  }

  @Test
  void isTakenAsItIs_whereSomeoneElseMadeIt() {
    exists("{'tls.crt': '%s', 'tls.key': '%s'}".formatted(base64("a certificate"),
        base64("a key")));

    assertThat(found()).isEqualTo(new Answer.Found("a certificate", "a key"));
  }

  @Test
  void isNotReplaced_whereHalfOfItIsMissing() {
    exists("{'tls.crt': '%s'}".formatted(base64("a certificate")));

    assertThat(secret.read().join())
        .isEqualTo(new Answer.Refused("it needs both tls.crt and tls.key"));
  }

  @Test
  void saysWhichRightIsMissing() {
    api.faults().add(Match.requests(Verb.CREATE).of(BuiltInKinds.SECRET), Fault.Answer.status(403));

    assertThat(secret.read().join()).isInstanceOfSatisfying(Answer.Refused.class,
        refused -> assertThat(refused.why()).startsWith("cannot create it: 403"));
  }

  @Test
  void saysSo_whereTheApiDoesNotAnswer() {
    api.faults().add(Match.requests(Verb.GET).of(BuiltInKinds.SECRET), Fault.Answer.status(500));

    assertThat(secret.read().join()).isInstanceOfSatisfying(Answer.Refused.class,
        refused -> assertThat(refused.why()).startsWith("cannot get it: 500"));
  }

  @Test
  void keepsTheKeyOutOfTexts() {
    assertThat(found()).hasToString("Found");
    assertThat(secret).hasToString("the Secret knative-serving/activator-peers");
  }
}
