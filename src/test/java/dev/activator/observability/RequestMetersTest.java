package dev.activator.observability;

import static dev.activator.observability.FakeRequest.HELLO;
import static dev.activator.observability.FakeRequest.OTHER_POD;
import static dev.activator.observability.FakeRequest.POD;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.ObservabilityConfig.ExportProtocol;
import dev.activator.config.ObservabilityConfig.MetricsConfig;
import dev.activator.testing.TestRevisions;
import dev.activator.revision.Destination;
import dev.activator.testing.Scrape;
import dev.activator.testing.Seeds;
import dev.activator.testing.VirtualLoop;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is counted of requests, as Prometheus gets it. */
class RequestMetersTest {
  private static final String REVISION = "k8s_namespace_name=\"testNs\","
      + "kn_configuration_name=\"testConfig\",kn_revision_name=\"testRevision\","
      + "kn_service_name=\"testSvc\"";
  private static final String SHORT = "{k8s_namespace_name=\"testNs\","
      + "kn_revision_name=\"testRevision\"} ";

  private final VirtualLoop loop = new VirtualLoop();
  private final TestRevisions revisions = new TestRevisions(loop, FakeRequest.revision(Map.of()));
  private final Meters meters = new Meters();
  private final RequestMeters observer = new RequestMeters(meters,
      revisions.live);

  @Test
  void countsARequestInTheBucketsOfItsKind() {
    // given a request of 5 bytes that takes 60 ms, and answers with 26
    var request = FakeRequest.of(observer, loop, revisions);
    request.read(5);
    request.wrote(26);
    request.answered(200, ofMillis(60));

    assertThat(scraped("http_server_request_duration_seconds"))
        .contains("http_server_request_duration_seconds_bucket{http_request_method=\"GET\","
            + "http_response_status_code=\"200\"," + REVISION
            + ",network_protocol_name=\"http\",network_protocol_version=\"1.1\","
            + "server_address=\"hello.example\",url_scheme=\"http\",le=\"0.05\"} 0")
        .anyMatch(line -> line.contains("le=\"0.075\"} 1"))
        .anyMatch(line -> line.startsWith("http_server_request_duration_seconds_sum{")
            && line.endsWith(" 0.06"))
        .anyMatch(line -> line.startsWith("http_server_request_duration_seconds_count{")
            && line.endsWith(" 1"));
    // a bucket's bound is in it
    assertThat(scraped("http_server_request_body_size_bytes"))
        .anyMatch(line -> line.contains("le=\"0.0\"} 0"))
        .anyMatch(line -> line.contains("le=\"5.0\"} 1"));
    assertThat(scraped("http_server_response_body_size_bytes"))
        .anyMatch(line -> line.contains("le=\"25.0\"} 0"))
        .anyMatch(line -> line.contains("le=\"50.0\"} 1"));
  }

  @ParameterizedTest
  @CsvSource({"NONE, 0, false", "GRPC, 1, false", "PROMETHEUS, 1, true"})
  void countsRequestsIfMetricsAreEnabled(ExportProtocol protocol, int series, boolean isScraped) {
    var observers = new RequestObservers();
    observer.start(new MetricsConfig(protocol, "", Duration.ZERO), observers);
    FakeRequest.of(observers, loop, revisions).answered(200, ofMillis(5));

    assertThat(scraped("http_server_request_duration_seconds_count")).hasSize(series)
        .allMatch(line -> line.endsWith(" 1"));
    assertThat(observer.areScraped()).isEqualTo(isScraped);
  }

  /** With 5,000 busy revisions, copies of names and of values such as GET took 8 MiB. */
  @Test
  void keepsOneCopyOfNamesAndOfCommonValuesForAllSeries() {
    int traits = HttpLabels.podTraits(FakeRequest.of(observer, loop, revisions), 200);
    var one = HttpLabels.withTraits(HttpLabels.withPod(Labels.EMPTY, new Destination("::1", 80)),
        traits);
    var other = HttpLabels.withTraits(HttpLabels.withPod(Labels.EMPTY,
        new Destination("10.0.0.1", 80)), traits);

    for (int i = 0; i < one.size(); i++) {
      assertThat(one.getName(i)).isSameAs(other.getName(i)).isSameAs(one.getPrometheusName(i));
      if (!one.getName(i).startsWith("server_")) {
        assertThat(one.getValue(i)).isSameAs(other.getValue(i));
      }
    }
  }

  @Test
  void distinguishesPodsInItsRequests() {
    var request = FakeRequest.of(observer, loop, revisions);
    request.begin();
    request.granted(POD);
    loop.advance(ofMillis(20));
    request.responding(503);
    loop.advance(ofSeconds(5));
    request.ended(RequestOutcome.ANSWERED, 503);

    // until the head of the response
    assertThat(scraped("http_client_request_duration_seconds"))
        .contains("http_client_request_duration_seconds_sum{http_request_method=\"GET\","
            + "http_response_status_code=\"503\"," + REVISION
            + ",network_protocol_name=\"http\",network_protocol_version=\"1.1\","
            + "server_address=\"10.0.0.1\",server_port=\"8012\",url_scheme=\"http\"} 0.02");
  }

  @Test
  void saysWhetherPodsAreCalledOverTls() {
    var request = FakeRequest.of(observer, loop, revisions);
    request.podSecure = true;
    request.begin();
    request.granted(POD);
    request.responding(200);
    request.ended(RequestOutcome.ANSWERED, 200);

    assertThat(scraped("http_client_request_duration_seconds_count")).singleElement().asString()
        .contains("url_scheme=\"https\"");
    assertThat(scraped("http_server_request_duration_seconds_count")).singleElement().asString()
        .contains("url_scheme=\"http\"");
  }

  @Test
  void countsARequestThatIsTriedAgainAtEachPod() {
    var request = FakeRequest.of(observer, loop, revisions);
    request.begin();
    request.granted(POD);
    request.undelivered("connection refused");
    request.queued();
    request.granted(OTHER_POD);
    request.responding(200);
    request.ended(RequestOutcome.ANSWERED, 200);

    assertThat(scraped("http_client_request_duration_seconds_count")).hasSize(2)
        .anyMatch(line -> line.contains("error_type=\"connection_refused\"")
            && line.contains("10.0.0.1") && !line.contains("status_code"))
        .anyMatch(line -> line.contains("status_code=\"200\"") && line.contains("10.0.0.2"));
    assertThat(scraped("activator_retries_total")).containsExactly("activator_retries_total 1.0");
  }

  @Test
  void knowsHowManyWaitAndRun() {
    var waiting = FakeRequest.of(observer, loop, revisions);
    var running = FakeRequest.of(observer, loop, revisions);
    waiting.begin();
    waiting.queued();
    running.begin();
    running.granted(POD);
    assertThat(gauge("kn_revision_request_queued")).isEqualTo("1.0");
    assertThat(gauge("kn_revision_request_active")).isEqualTo("1.0");

    waiting.granted(POD);
    running.ended(RequestOutcome.CALLER_GONE, 499);
    assertThat(gauge("kn_revision_request_queued")).isEqualTo("0.0");
    assertThat(gauge("kn_revision_request_active")).isEqualTo("1.0");

    waiting.ended(RequestOutcome.ANSWERED, 200);
    assertThat(gauge("kn_revision_request_active")).isEqualTo("0.0");
  }

  @Test
  @DisplayName("counts a response that was broken off, with the status of what broke it")
  void countsABrokenResponse() {
    var request = FakeRequest.of(observer, loop, revisions);
    request.begin();
    request.granted(POD);
    request.responding(200);
    request.failed("connection reset");
    request.ended(RequestOutcome.BAD_GATEWAY, 502);

    assertThat(scraped("http_server_request_duration_seconds_count"))
        .anyMatch(line -> line.contains("status_code=\"502\"") && line.contains(REVISION));
    assertThat(scraped("activator_rejections_total"))
        .contains("activator_rejections_total{reason=\"bad-gateway\"} 1.0");
  }

  @Test
  void countsARequestOfNoRevisionWithoutItsNames() {
    var request = FakeRequest.lost(observer, loop);
    request.begin();
    request.ended(RequestOutcome.REVISION_UNKNOWN, 404);

    assertThat(scraped("http_server_request_duration_seconds_count")).singleElement().asString()
        .contains("status_code=\"404\"").doesNotContain("kn_");
    assertThat(scraped("http_client")).isEmpty();
  }

  @Test
  void callsUnknownMethodsByOneName() {
    for (int i = 0; i < 100; i++) {
      var request = FakeRequest.of(observer, loop, revisions);
      request.method = "BREW" + i;
      request.answered(200, ofMillis(1));
    }

    assertThat(scraped("http_server_request_duration_seconds_count")).singleElement().asString()
        .contains("http_request_method=\"_OTHER\"").endsWith(" 100");
  }

  @Test
  void distinguishesHostsUpToAMaximum() {
    // given callers that think of a new host each time
    for (int i = 0; i < 1_000; i++) {
      var request = FakeRequest.of(observer, loop, revisions);
      request.host = "host-" + i + ":8012";
      request.answered(200, ofMillis(1));
    }

    var series = scraped("http_server_request_duration_seconds_count");
    assertThat(series).hasSize(RevisionMeters.MAX_HOSTS + 1)
        .anyMatch(line -> line.contains("server_address=\"_OTHER\"")
            && line.endsWith(" " + (1_000 - RevisionMeters.MAX_HOSTS)));
    assertThat(series.getFirst()).contains("server_port=\"8012\"");
  }

  @Test
  void countsAHostTogetherHoweverItIsWritten() {
    for (var host : List.of("Hello.Example", "hello.example:80", "hello.example")) {
      var request = FakeRequest.of(observer, loop, revisions);
      request.host = host;
      request.answered(200, ofMillis(1));
    }

    assertThat(scraped("http_server_request_duration_seconds_count")).singleElement().asString()
        .contains("server_address=\"hello.example\"").endsWith(" 3");
  }

  @Test
  void countsTogetherWhatNeedsTooManySeries() {
    // given pods that answer with every status there is
    for (int status = 200; status < 900; status++) {
      FakeRequest.of(observer, loop, revisions).answered(status, ofMillis(1));
    }

    var series = scraped("http_server_request_duration_seconds_count");
    assertThat(series).hasSize(RevisionMeters.MAX_SERIES + 1);
    assertThat(series).filteredOn(line -> line.contains("otel_metric_overflow=\"true\""))
        .singleElement().asString().endsWith(" " + (700 - RevisionMeters.MAX_SERIES));
  }

  @Test
  void forgetsThePodThatWasCalledLeastRecently() {
    for (int i = 0; i < RevisionMeters.MAX_PODS + 1; i++) {
      var request = FakeRequest.of(observer, loop, revisions);
      request.begin();
      request.granted(new Destination("10.0.1." + i, 8012));
      request.responding(200);
      loop.advance(ofMillis(1));
      request.ended(RequestOutcome.ANSWERED, 200);
    }

    assertThat(scraped("http_client_request_duration_seconds_count"))
        .hasSize(RevisionMeters.MAX_PODS).noneMatch(line -> line.contains("\"10.0.1.0\""));
  }

  @Test
  void countsRequestsByMethodAndSchemeUntilTheyEnd() {
    assertThat(scraped("http_server_active_requests")).isEmpty();
    var request = FakeRequest.of(observer, loop, revisions);
    request.begin();
    assertThat(scraped("http_server_active_requests")).containsExactly(
        "http_server_active_requests{http_request_method=\"GET\",url_scheme=\"http\"} 1.0");

    request.ended(RequestOutcome.CALLER_GONE, 499);
    assertThat(scraped("http_server_active_requests")).singleElement().asString()
        .endsWith(" 0.0");
  }

  @Test
  void keepsTheSeriesOfActiveRequests_whenTheyEndBetweenScrapes() {
    FakeRequest.of(observer, loop, revisions).answered(200, ofMillis(1));

    assertThat(scraped("http_server_active_requests")).singleElement().asString()
        .endsWith(" 0.0");
  }

  @Test
  void forgetsARevisionThatIsGoneAndCountsTheNextOfItsNameAgain() {
    FakeRequest.of(observer, loop, revisions).answered(200, ofMillis(1));
    observer.reported(HELLO, 0.25);
    var late = FakeRequest.of(observer, loop, revisions);
    late.begin();

    revisions.remove(HELLO);
    assertThat(scraped("kn_revision")).isEmpty();
    assertThat(scraped("http_server_request")).isEmpty();
    // and what ends later brings nothing back
    late.ended(RequestOutcome.CALLER_GONE, 499);
    assertThat(scraped("http_server_request")).isEmpty();
  }

  @Test
  void keepsNothingOfARevisionThatIsGone_evenIfNothingReads() {
    var request = FakeRequest.of(observer, loop, revisions);
    request.answered(200, ofMillis(1));
    observer.reported(HELLO, 1);

    revisions.remove(HELLO);

    // what still stands, a revision of the same name would be taken for
    assertThat(scraped("http_server_request")).isEmpty();
    assertThat(scraped("kn_revision")).isEmpty();
  }

  @Test
  void takesNoReportOfARevisionThatIsGone() {
    revisions.remove(HELLO);
    observer.reported(HELLO, 1);
    revisions.put(FakeRequest.revision(Map.of()));

    assertThat(scraped("kn_revision_request_concurrency")).isEmpty();
  }

  @Test
  void showsTheConcurrencyThatWasReported() {
    observer.reported(HELLO, 1.5);
    observer.reported(HELLO, 0.25);

    assertThat(scraped("kn_revision_request_concurrency"))
        .containsExactly("kn_revision_request_concurrency{" + REVISION + "} 0.25");
  }

  @Test
  void hasNoSeriesForANumberThatIsNone() {
    meters.number(MetricDefinition.LINK_REACHABLE, Labels.of("peer", "autoscaler"),
        () -> Double.NaN);
    meters.number(MetricDefinition.LINK_ERRORS, Labels.of("peer", "autoscaler"), () -> 3);

    assertThat(scraped("kn_activator"))
        .containsExactly("kn_activator_stats_conn_errors_total{peer=\"autoscaler\"} 3.0");
  }

  @Test
  void addsUpWhatLoopsCount() throws Exception {
    // given four loops that begin together, each with a clock of its own
    var threads = new ArrayList<Thread>();
    var start = new CountDownLatch(1);
    for (int i = 0; i < 4; i++) {
      threads.add(Thread.ofPlatform().start(() -> {
        var clock = new VirtualLoop();
        awaited(start);
        for (int request = 0; request < 500; request++) {
          FakeRequest.of(observer, clock, revisions).answered(200 + request % 50, ofMillis(1));
        }
      }));
    }
    start.countDown();
    for (var thread : threads) {
      thread.join();
    }

    assertThat(scraped("http_server_request_duration_seconds_count")).hasSize(50)
        .allMatch(line -> line.endsWith(" 40"));
    assertThat(scraped("http_client_request_body_size_bytes_count")).hasSize(50)
        .allMatch(line -> line.endsWith(" 40"));
    assertThat(gauge("kn_revision_request_active")).isEqualTo("0.0");
  }

  private static void awaited(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      throw new IllegalStateException(stopped);
    }
  }

  /** Requests that go all ways there are: both gauges come back to zero. */
  @Test
  void losesNoRequestWhateverHappensToIt() {
    Seeds.each(seed -> new RequestMetersTest().losesNoRequestWhateverHappensToIt(seed));
  }

  private void losesNoRequestWhateverHappensToIt(long seed) {
    var random = new Random(seed);
    for (int i = 0; i < 50; i++) {
      var request = FakeRequest.of(observer, loop, revisions);
      request.begin();
      int steps = random.nextInt(4);
      boolean running = random.nextBoolean();
      if (running) {
        request.granted(POD);
      } else {
        request.queued();
      }
      for (int step = 0; step < steps; step++) {
        if (running) {
          request.undelivered("connection refused");
          request.queued();
        } else {
          request.granted(OTHER_POD);
        }
        running = !running;
        assertThat(waitingAndRunning()).isOne();
      }
      request.ended(running ? RequestOutcome.BAD_GATEWAY : RequestOutcome.QUEUE_TIMEOUT, 504);
    }
    assertThat(gauge("kn_revision_request_queued")).isEqualTo("0.0");
    assertThat(gauge("kn_revision_request_active")).isEqualTo("0.0");
    long all = scraped("http_server_request_duration_seconds_count").stream()
        .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1))).sum();
    assertThat(all).isEqualTo(50);
  }

  /** Of both gauges together; read without a text in between, as it is asked often. */
  private double waitingAndRunning() {
    return meters.collect().stream()
        .filter(metric -> metric.getMetadata().getName().startsWith("kn_revision_request_"))
        .flatMap(metric -> metric.getDataPoints().stream())
        .mapToDouble(point -> ((GaugeDataPointSnapshot) point).getValue()).sum();
  }

  private String gauge(String name) {
    return scraped(name).getFirst().substring(name.length() + SHORT.length());
  }

  /** The samples whose names begin like this. */
  private List<String> scraped(String prefix) {
    return Scrape.of(meters, prefix);
  }
}
