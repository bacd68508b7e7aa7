package dev.activator.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.backend.BackendSettings;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.loop.ThreadLoop;
import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.observability.Outcome;
import dev.activator.observability.Phases;
import dev.activator.revision.Destination;
import dev.activator.revision.Destinations;
import dev.activator.revision.Listing;
import dev.activator.revision.PodListing;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.stats.AutoscalerLink;
import dev.activator.throttle.Throttler;
import dev.activator.throttle.policy.RevisionOptions;
import dev.activator.upstream.ProbeAnswer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.server.RouterFunctions;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** The page over HTTP, as a browser asks for it. */
class LivePageTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello-00001");
  private static final ColdStart START = new ColdStart(HELLO, Instant.EPOCH,
      new Phases(1_000_000, 2_000_000, 0, 500_000, 0), Outcome.ANSWERED, 200);

  private final ThreadLoop loop = new ThreadLoop("revisions");
  private final RevisionBackendsManager backends = new RevisionBackendsManager(_ -> loop, loop,
      (on, request, done) -> on.execute(() -> done.accept(new ProbeAnswer.Answered(200, "queue"))),
      BackendSettings.DEFAULT, new Random(1));
  private final Throttler throttler = new Throttler(_ -> loop, _ -> Revision.of(HELLO, 0),
      "10.9.9.9", RevisionOptions.of(10), new Random(1));
  private final AutoscalerLink.View link = new AutoscalerLink.View("ws://autoscaler:8080", true,
      Duration.ofSeconds(9),
      0, null);
  private final Sinks.Many<Integer> ticks = Sinks.many().multicast().directBestEffort();
  private final LivePage page = new LivePage(new Inspector(backends, throttler,
      () -> CompletableFuture.completedFuture(link), () -> new ApiState(true, List.of()),
      _ -> loop, _ -> List.of(), _ -> ""), () -> List.of(START), backends, ticks.asFlux());
  private final DisposableServer server = HttpServer.create().host("127.0.0.1")
      .handle(new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(page.routes())))
      .bindNow();
  private final HttpClient http = HttpClient.newHttpClient();

  @AfterEach
  void close() {
    http.shutdownNow();
    server.disposeNow();
    loop.close();
  }

  private <T> HttpResponse<T> get(String path, HttpResponse.BodyHandler<T> as) throws Exception {
    return http.send(HttpRequest.newBuilder(
        URI.create("http://127.0.0.1:" + server.port() + path)).build(), as);
  }

  private Iterator<String> watch() throws Exception {
    HttpResponse<Stream<String>> response = get("/console/updates", BodyHandlers.ofLines());
    assertThat(response.headers().firstValue("Content-Type"))
        .hasValueSatisfying(type -> assertThat(type).startsWith("text/event-stream"));
    return response.body().filter(line -> !line.isEmpty()).iterator();
  }

  private void list(String... addresses) {
    var pods = Destinations
        .of(Stream.of(addresses).map(ip -> new Destination(ip, 8012)).toList());
    backends.revision(Revision.of(HELLO, 0));
    backends.listed(new PodListing(HELLO, new Listing(pods, Destinations.NONE), Listing.NONE));
  }

  /** As soon as there is a follower. */
  private void tick() {
    await().atMost(Duration.ofSeconds(30))
        .until(() -> ticks.tryEmitNext(1) == Sinks.EmitResult.OK);
  }

  @Test
  void isAPageWhoseScriptsAndStylesAreItsOwn() throws Exception {
    var html = get("/console", BodyHandlers.ofString());

    assertThat(html.headers().firstValue("Content-Type")).hasValue("text/html");
    assertThat(html.headers().firstValue("Content-Security-Policy"))
        .hasValue("default-src 'self'");
    var linked = new ArrayList<String>();
    Pattern.compile("(?:src|href)=\"([^\"]*)\"").matcher(html.body()).results()
        .forEach(found -> linked.add(found.group(1)));
    assertThat(linked).containsExactlyInAnyOrder("/console/console.css", "/console/console.js");
    for (var path : linked) {
      assertThat(get(path, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void tellsWhereRequestsCanGoAsItChanges() throws Exception {
    list("10.0.0.1");
    var lines = watch();

    assertThat(lines.next()).isEqualTo("event:destinations");
    assertThat(lines.next()).isEqualTo("data:{\"revision\":\"default/hello-00001\","
        + "\"clusterIp\":null,\"pods\":[\"10.0.0.1:8012\"]}");

    list();
    assertThat(lines.next()).isEqualTo("event:destinations");
    assertThat(lines.next()).isEqualTo(
        "data:{\"revision\":\"default/hello-00001\",\"clusterIp\":null,\"pods\":[]}");
  }

  @Test
  void looksAtWhoWaitsAtEachTickWhileSomebodyWatches() throws Exception {
    // given nobody, then a tick is for nobody
    assertThat(ticks.tryEmitNext(0)).isEqualTo(Sinks.EmitResult.FAIL_ZERO_SUBSCRIBER);

    // when a page is open
    list("10.0.0.1");
    var lines = watch();
    lines.next();
    lines.next();
    tick();

    assertThat(lines.next()).isEqualTo("event:overview");
    assertThat(lines.next())
        .startsWith("data:{\"summary\":\"No request waits; the autoscaler link is up.\"");
    assertThat(lines.next()).isEqualTo("event:cold-starts");
    assertThat(lines.next()).startsWith("data:[{\"revision\":\"default/hello-00001\"");
  }

  /** Asks for so much at first, and for no more. */
  private static final class Viewer extends BaseSubscriber<ServerSentEvent<Object>> {
    private final long asked;
    private final Queue<String> read = new ConcurrentLinkedQueue<>();
    private final CountDownLatch over = new CountDownLatch(1);

    Viewer(long asked) {
      this.asked = asked;
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      if (asked > 0) {
        request(asked);
      }
    }

    @Override
    protected void hookOnNext(ServerSentEvent<Object> event) {
      read.add(event.event());
    }

    @Override
    protected void hookOnComplete() {
      over.countDown();
    }
  }

  @Test
  void goesOnForOthersAndGivesUpOneThatDoesNotRead() throws Exception {
    // given one that reads, and one that does not
    var reading = new Viewer(Long.MAX_VALUE);
    var stuck = new Viewer(0);
    page.events().subscribe(reading);
    page.events().subscribe(stuck);

    // when there is more than one may leave unread, at two events a tick
    for (int i = 1; i <= LivePage.MOST_UNREAD; i++) {
      int expected = 2 * i;
      tick();
      await().atMost(Duration.ofSeconds(30)).until(() -> reading.read.size() == expected);
    }

    // then the first has had it all and goes on, and the other has been given up
    assertThat(stuck.over.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(stuck.read).isEmpty();
    assertThat(reading.over.getCount()).isOne();
    reading.dispose();
  }

  @Test
  void endsForAllWhoWatchWhenItIsClosed() throws Exception {
    list("10.0.0.1");
    var lines = watch();
    lines.next();
    lines.next();

    page.close();

    assertThat(lines.hasNext()).isFalse();
    assertThat(get("/console/updates", BodyHandlers.ofString()).statusCode()).isEqualTo(503);
  }

  @Test
  void hasRoomForSoManyAndForAnotherOnceOneHasLeft() {
    var viewers = new LivePage.Viewers(2);

    assertThat(Stream.of(1, 2, 3).map(_ -> viewers.enter()).toList()).containsExactly(true, true,
        false);
    viewers.leave();
    assertThat(viewers.enter()).isTrue();
  }
}
