package dev.activator.discovery;

import static dev.activator.kube.FakeApi.ENDPOINTS;
import static dev.activator.kube.FakeApi.REVISIONS;
import static dev.activator.kube.FakeApi.SERVICES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.kube.StartFailure;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.ClusterUnavailableException;
import dev.activator.kube.FakeApi;
import dev.activator.kube.decode.ListWatchParser;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.RevisionId;
import dev.activator.testing.Make;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClusterWatcherTest {
  private static final RevisionId REVISION = new RevisionId("ns", "rev");
  private static final String LABELS = "{serving.knative.dev/revision: rev, "
      + "serving.knative.dev/revisionUID: u1, networking.internal.knative.dev/serviceType: %s}";

  private final FakeApi api = new FakeApi();
  private final BlockingQueue<String> news = new LinkedBlockingQueue<>();
  private final ClusterWatcher cluster = listening(
      cluster(new ClusterAccess.At(api.url()), Duration.ofSeconds(120)));

  private static ClusterWatcher cluster(ClusterAccess access, Duration patience) {
    return Make.cluster(() -> access, patience);
  }

  private ClusterWatcher listening(ClusterWatcher fresh) {
    fresh.revisions().subscribe("test", revision -> news.add("revision " + revision.id() + " cc "
        + revision.spec().containerConcurrency()));
    TestRevisions.onEnd(fresh, id -> news.add("revision gone " + id));
    fresh.pods().subscribe("test",
        pods -> news.add("pods " + pods.http1().ready() + pods.http1().notReady()));
    fresh.podsGone().subscribe("test", last -> news.add("pods gone " + last.revision()));
    fresh.publicAddresses().subscribe("test", addresses -> news.add("public " + addresses.http1()));
    fresh.clusterIps().subscribe("test", address -> news.add("service " + address.http1()));
    return fresh;
  }

  @AfterEach
  void close() {
    cluster.close();
    api.close();
  }

  private void hears(String expected) throws InterruptedException {
    assertThat(news.poll(120, TimeUnit.SECONDS)).isEqualTo(expected);
  }

  private void putRevision(String name, String spec) {
    api.put(REVISIONS, name, """
        {apiVersion: serving.knative.dev/v1, kind: Revision, metadata: {namespace: ns, name: %s,
        resourceVersion: "%%d", managedFields: [{manager: x}]}, spec: %s}
        """.formatted(name, spec));
  }

  private void putRevisionWithUid(String uid, String spec) {
    api.put(REVISIONS, "rev", """
        {apiVersion: serving.knative.dev/v1, kind: Revision, metadata: {namespace: ns, name: rev,
        uid: %s, resourceVersion: "%%d"}, spec: %s}
        """.formatted(uid, spec));
  }

  private void putEndpoints(String serviceType, String subsets) {
    api.put(ENDPOINTS, serviceType, """
        {apiVersion: v1, kind: Endpoints, metadata: {namespace: ns, name: rev-%s,
        resourceVersion: "%%d", labels: %s}, subsets: %s}
        """.formatted(serviceType.toLowerCase(Locale.ROOT),
        LABELS.formatted(serviceType), subsets));
  }

  private static String pod(String ip) {
    return "[{ports: [{name: http, port: 8012}], addresses: [{ip: " + ip + "}]}]";
  }

  private void putRevisionOf(String service, String name, int generation, String routed) {
    api.put(REVISIONS, name, """
        {apiVersion: serving.knative.dev/v1, kind: Revision, metadata: {namespace: ns, name: %s,
        resourceVersion: "%%d", labels: {serving.knative.dev/service: %s,
        serving.knative.dev/configurationGeneration: "%d", serving.knative.dev/routingState: %s}},
        spec: {}}
        """.formatted(name, service, generation, routed));
  }

  @Test
  void theNameOfAServiceMeansItsNewestRevisionThatIsRouted() throws Exception {
    putRevisionOf("web", "web-9", 9, "active");
    putRevisionOf("web", "web-10", 10, "active");
    putRevisionOf("web", "web-11", 11, "pending");
    putRevisionOf("old", "old-1", 1, "reserve");
    cluster.start();

    assertThat(cluster.named(new RevisionId("ns", "web"))).hasToString("ns/web-10");
    assertThat(cluster.named(new RevisionId("ns", "web-9"))).hasToString("ns/web-9");
    assertThat(cluster.named(new RevisionId("ns", "old"))).hasToString("ns/old-1");
    assertThat(cluster.named(new RevisionId("ns", "none"))).isNull();
    assertThat(cluster.named(new RevisionId("other", "web"))).isNull();
  }

  @Test
  void objectsThatCameBeforeTheirRevisionAreReportedAgainWithIt() throws Exception {
    putEndpoints("Private", pod("10.0.0.1"));
    putEndpoints("Public", pod("10.0.0.9"));
    api.put(SERVICES, "rev-private", """
        {apiVersion: v1, kind: Service, metadata: {namespace: ns, name: rev-private,
        resourceVersion: "%%d", labels: %s}, spec: {clusterIP: 10.1.1.1,
        ports: [{name: http, port: 80}]}}
        """.formatted(LABELS.formatted("Private")));
    cluster.start();
    assertThat(news).containsExactlyInAnyOrder("service 10.1.1.1:80",
        "pods [10.0.0.1:8012][]", "public [10.0.0.9]");
    news.clear();

    putRevisionWithUid("u1", "{containerConcurrency: 3}");

    hears("revision ns/rev cc 3");
    hears("service 10.1.1.1:80");
    hears("pods [10.0.0.1:8012][]");
    hears("public [10.0.0.9]");
  }

  @Test
  void reportsAllObjectsAndChanges() throws Exception {
    // given a revision and its Service
    putRevision("rev", "{containerConcurrency: 3}");
    api.put(SERVICES, "rev-private", """
        {apiVersion: v1, kind: Service, metadata: {namespace: ns, name: rev-private,
        resourceVersion: "%%d", labels: %s}, spec: {clusterIP: 10.1.1.1,
        ports: [{name: http, port: 80}]}}
        """.formatted(LABELS.formatted("Private")));

    // when it starts
    cluster.start();

    // then both are told before the start is over
    assertThat(cluster.synced()).isTrue();
    // A Service that is listed first is reported again for its revision.
    assertThat(news.stream().distinct()).containsExactlyInAnyOrder("revision ns/rev cc 3",
        "service 10.1.1.1:80");
    assertThat(cluster.live().spec(REVISION)).isNotNull();
    news.clear();

    // and when pods come and go, then that is told, in order
    putEndpoints("Private", pod("10.0.0.1"));
    hears("pods [10.0.0.1:8012][]");
    putEndpoints("Private", pod("10.0.0.2"));
    hears("pods [10.0.0.2:8012][]");
    putEndpoints("Public", pod("10.0.0.9"));
    hears("public [10.0.0.9]");
    api.delete(ENDPOINTS, "Public");
    hears("public []");
    api.delete(ENDPOINTS, "Private");
    hears("pods gone ns/rev");
    api.delete(SERVICES, "rev-private");
    hears("service null");
    api.delete(REVISIONS, "rev");
    hears("revision gone ns/rev");
    assertThat(cluster.live().spec(REVISION)).isNull();
  }

  @Test
  void selectsOnTheServer() throws Exception {
    cluster.start();

    assertThat(api.queries()).anyMatch(query -> query.startsWith(ENDPOINTS) && query.contains(
        "labelSelector=networking.internal.knative.dev/serviceType in (Private,Public)"));
    assertThat(api.queries()).anyMatch(query -> query.startsWith(SERVICES)
        && query.contains("labelSelector=networking.internal.knative.dev/serviceType=Private"));
  }

  @Test
  void skipsAMalformedObjectAndGoesOn() throws Exception {
    // given a revision and one that is none
    putRevision("bad", "{timeoutSeconds: soon}");
    putRevision("rev", "{}");
    cluster.start();
    hears("revision ns/rev cc 0");

    // when the good one becomes malformed
    putRevision("rev", "{containerConcurrency: {}}");
    putRevision("other", "[]");
    putRevision("bad", "{containerConcurrency: 1}");
    hears("revision ns/bad cc 1");

    // then it stays as it was, until it is well-formed again
    assertThat(cluster.live().spec(REVISION)).isNotNull();
    putRevision("rev", "{containerConcurrency: 2}");
    hears("revision ns/rev cc 2");
  }

  @Test
  void reportsADeletionThatNoWatchSaw() throws Exception {
    putEndpoints("Private", pod("10.0.0.1"));
    cluster.start();
    hears("pods [10.0.0.1:8012][]");

    api.deleteUnseen(ENDPOINTS, "Private");

    hears("pods gone ns/rev");
  }

  @Test
  void saysNothingOfAChangeThatMeansNothing() throws Exception {
    putEndpoints("Private", pod("10.0.0.1"));
    cluster.start();
    hears("pods [10.0.0.1:8012][]");

    putEndpoints("Private", pod("10.0.0.1"));
    putEndpoints("Private", pod("10.0.0.2"));

    hears("pods [10.0.0.2:8012][]");
  }

  @Test
  void takesBackWhatALabelNoLongerSays() throws Exception {
    putEndpoints("Private", pod("10.0.0.1"));
    cluster.start();
    hears("pods [10.0.0.1:8012][]");

    // when the same object is another revision's now
    api.put(ENDPOINTS, "Private", """
        {apiVersion: v1, kind: Endpoints, metadata: {namespace: ns, name: rev-private,
        resourceVersion: "%d", labels: {serving.knative.dev/revision: other,
        serving.knative.dev/revisionUID: u2,
        networking.internal.knative.dev/serviceType: Private}}}
        """);

    hears("pods gone ns/rev");
    hears("pods [][]");
  }

  @Test
  void reportsTheActivatorsAgainOfARevisionThatWasCreatedAgain() throws Exception {
    // given a revision, and Endpoints of activators that stay as they are
    putRevisionWithUid("u1", "{}");
    cluster.start();
    hears("revision ns/rev cc 0");
    putEndpoints("Public", pod("10.0.0.9"));
    hears("public [10.0.0.9]");

    // when another one takes its name, unseen
    putRevisionWithUid("u2", "{}");

    // then a listener that forgot the first is told about the second
    hears("revision gone ns/rev");
    hears("revision ns/rev cc 0");
    hears("public [10.0.0.9]");
  }

  @Test
  void keepsNothingOfTheOneBeforeAMalformedOne() throws Exception {
    putRevisionWithUid("u1", "{}");
    cluster.start();
    hears("revision ns/rev cc 0");

    putRevisionWithUid("u2", "{timeoutSeconds: soon}");

    hears("revision gone ns/rev");
    assertThat(cluster.live().spec(REVISION)).isNull();
  }

  @Test
  void aConsumerThatThrowsDoesNotEndTheWatch() throws Exception {
    cluster.pods().subscribe("test", pods -> {
      throw new IllegalStateException("a bug");
    });
    putEndpoints("Private", pod("10.0.0.1"));
    cluster.start();
    hears("pods [10.0.0.1:8012][]");

    putEndpoints("Private", pod("10.0.0.2"));

    hears("pods [10.0.0.2:8012][]");
  }

  @Test
  void waitsForAnApiThatIsNotThereYet() throws Exception {
    // given an API that is being started
    api.refuses("/version", 500);
    api.refuses(ENDPOINTS, 500);
    var starting = new Thread(() -> {
      try {
        cluster.start();
      } catch (InterruptedException end) {
        Thread.currentThread().interrupt();
      }
    });
    starting.start();

    // when it is there
    api.allows("/version");
    putEndpoints("Private", pod("10.0.0.1"));
    api.allows(ENDPOINTS);

    // then it is used
    hears("pods [10.0.0.1:8012][]");
    starting.join();
    assertThat(cluster.synced()).isTrue();
  }

  @ParameterizedTest(name = "{0} answers {1}")
  @CsvSource(delimiter = '|', value = {
      "/api/v1/services                        | 401 "
          + "| rejects the activator's credentials (401, on list services -A)",
      "/api/v1/endpoints                       | 403 | does not allow the activator to list endpoints -A (403)",
      "/apis/serving.knative.dev/v1/revisions  | 404 "
          + "| has no revisions.serving.knative.dev (404); is Knative Serving installed?"})
  void saysInOneLineWhatTheApiRefuses(String path, int status, String message) {
    api.refuses(path, status);
    assertThat(StartFailure.of(patience -> {
      try (var impatient = cluster(new ClusterAccess.At(api.url()), patience)) {
        try {
          impatient.start();
        } finally {
          assertThat(impatient.synced()).isFalse();
        }
      }
    })).isEqualTo("the Kubernetes API at " + api.url() + "/ " + message);
  }

  @Test
  void namesAKubeconfigThatIsNotThere() {
    var nowhere = cluster(new ClusterAccess.Kubeconfig(Path.of("/nowhere/config"), "", ""),
        Duration.ofSeconds(1));

    assertThatThrownBy(nowhere::start).isInstanceOf(ClusterUnavailableException.class)
        .hasMessage("there is no readable kubeconfig at /nowhere/config");
  }

  @Test
  void connect_isThatOfTheStartThatFollows() throws Exception {
    var accesses = new AtomicInteger();
    try (var early = listening(Make.cluster(() -> {
      accesses.incrementAndGet();
      return new ClusterAccess.At(api.url());
    }))) {
      putEndpoints("Private", pod("10.0.0.1"));

      early.connect();
      early.start();

      hears("pods [10.0.0.1:8012][]");
      assertThat(accesses).hasValue(1);
    }
  }

  @Test
  void start_retries_whenTheApiRefusedTheConnectBefore() throws Exception {
    api.refuses("/version", 500);
    putEndpoints("Private", pod("10.0.0.1"));

    cluster.connect();
    cluster.connection();
    api.allows("/version");
    cluster.start();

    hears("pods [10.0.0.1:8012][]");
  }

  @Test
  void start_namesAKubeconfigThatIsNotThere_whenConnectFoundNone() {
    var nowhere = cluster(new ClusterAccess.Kubeconfig(Path.of("/nowhere/config"), "", ""),
        Duration.ofSeconds(1));
    nowhere.connect();

    assertThatThrownBy(nowhere::start).isInstanceOf(ClusterUnavailableException.class)
        .hasMessage("there is no readable kubeconfig at /nowhere/config");
  }

  @Test
  void close_endsAConnectionThatNoStartUsed() throws Exception {
    var unused = cluster(new ClusterAccess.At(api.url()), Duration.ofSeconds(1));
    unused.connect();
    var session = unused.connection().session();

    unused.close();

    assertThatThrownBy(() -> session.api().get("version", Duration.ofSeconds(1),
        ListWatchParser::gitVersion).get())
        .hasRootCauseInstanceOf(RejectedExecutionException.class);
  }
}
