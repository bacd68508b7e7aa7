package dev.activator.ext.console;

import dev.activator.platform.RevisionActions;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.activator.observability.RequestObservers;
import dev.activator.platform.RevisionDetailsSource;
import dev.activator.testing.TestRevisions;
import dev.activator.platform.RevisionDetailsSource.RoutingState;
import dev.activator.platform.RevisionDetailsSource.Routing;
import dev.activator.backend.RevisionBackendsManager;
import dev.activator.loop.ThreadLoop;
import dev.activator.observability.ColdStarts.ColdStart;
import dev.activator.observability.FakeRequest;
import dev.activator.observability.RequestOutcome;
import dev.activator.observability.RequestPhases;
import dev.activator.revision.Destination;
import dev.activator.revision.DestinationSet;
import dev.activator.revision.PodsByReadiness;
import dev.activator.revision.PrivateEndpoints;
import dev.activator.revision.Revision;
import dev.activator.revision.RevisionId;
import dev.activator.revision.RevisionStartProgress.StartPhase;
import dev.activator.stats.AutoscalerLink;
import dev.activator.stats.RevisionStat;
import dev.activator.testing.Make;
import dev.activator.testing.StubQueuedCaller;
import dev.activator.testing.VirtualLoop;
import dev.activator.throttle.PeerSnapshot;
import dev.activator.throttle.Throttler;
import dev.activator.upstream.ProbeClient.ProbeResult;
import java.util.HashMap;
import java.io.StringReader;
import java.time.Clock;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathFactory;
import org.jspecify.annotations.Nullable;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;
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
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
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
import tools.jackson.databind.json.JsonMapper;

/** The page over HTTP, as a browser asks for it. */
class LiveConsoleTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello-00001");
  private static final ColdStart START = new ColdStart(HELLO, Instant.EPOCH,
      new RequestPhases(1_000_000, 2_000_000, 0, 500_000, 0),
      Map.of(StartPhase.POD, 1_000_000L, StartPhase.ANSWER, 2_000_000L), RequestOutcome.ANSWERED,
      200);

  private final ThreadLoop loop = new ThreadLoop("revisions");
  private final TestRevisions revisions = new TestRevisions(loop, Revision.of(HELLO, 0));
  private final RevisionBackendsManager backends = Make.backends(revisions.live, loop,
      (on, request, done) -> on.execute(() -> done.accept(new ProbeResult.Answered(200, "queue"))));
  private final Throttler throttler = Make.throttler(revisions.live, 10);
  private final AutoscalerLink.View link = new AutoscalerLink.View("ws://autoscaler:8080", true,
      Duration.ofSeconds(9), 0, null);
  private final Sinks.Many<Integer> ticks = Sinks.many().multicast().directBestEffort();
  private final List<String> acted = new CopyOnWriteArrayList<>();
  private final AtomicLong seconds = new AtomicLong();
  private final RequestObservers observers = new RequestObservers();
  private final MinuteHistory activity = new MinuteHistory(
      revisions.live, () -> seconds.get() * 1_000_000_000, _ -> 7, observers);
  private final RevisionHourHistory hours = new RevisionHourHistory(
      revisions.live, () -> seconds.get() * 1_000_000_000,
      Clock.systemUTC(), _ -> 7);
  private final Alerts alerts = new Alerts(() -> seconds.get() * 1_000_000_000);
  private volatile String unready = "";
  private volatile String kind = "Revision";
  private volatile List<String> obstacles = List.of();
  private final AtomicInteger eventsRead = new AtomicInteger();

  private final LiveConsole page = page(new RecordedActions());

  private LiveConsole page(@Nullable RevisionActions actions) {
    return new LiveConsole(
        new RevisionInspector(backends, throttler, new InspectorSources(loop, () -> link)),
        new LiveConsole.Sources(new RevisionCardData.Source(new SomeFacts(), activity, hours,
            loop::nanoTime), () -> List.of(START), () -> unready,
            PeerSnapshot.Source.NONE, alerts),
        new ConsoleLinks("https://logs/?q={revision}", "", "https://runbooks/#{alert}"),
        actions, ticks.asFlux());
  }

  private final Map<RevisionId, Routing> routings = new HashMap<>();

  /** Every text would be markup if it were not escaped. */
  private final class SomeFacts implements RevisionDetailsSource {
    @Override
    public CardDetails card(RevisionId id) {
      var routing = routings.get(id);
      boolean isSuperseded = routing != null && routing.state() == RoutingState.SUPERSEDED;
      return new CardDetails(kind, isSuperseded ? List.of("it crashes") : obstacles,
          "http://hello/?<script>&\"'", 10, routing, kind.equals("Revision"));
    }

    @Override
    public CompletableFuture<List<Setting>> settings(RevisionId id) {
      return CompletableFuture
          .completedFuture(List.of(new Setting("<b>", "</td>", "since 1970-01-01T00:00:00Z")));
    }

    @Override
    public CompletableFuture<Known<EventLine>> events(RevisionId id) {
      eventsRead.incrementAndGet();
      return CompletableFuture.completedFuture(new Known<>(List.of(
          new EventLine(Instant.EPOCH, "Warning", "BackOff", "Pod p", "<img src=x onerror=y>")),
          ""));
    }

    @Override
    public Known<String> log(RevisionId id) {
      return new Known<>(List.of("<script>alert(1)</script>\u001b[31m"), "");
    }
  }

  private final class RecordedActions implements RevisionActions {
    @Override
    public void sendRequest(RevisionId id) {
      acted.add("request " + id);
    }

    @Override
    public void scaleToZero(RevisionId id) {
      acted.add("zero " + id);
    }

    @Override
    public void restart(RevisionId id) {
      acted.add("restart " + id);
    }
  }

  private final DisposableServer server = HttpServer.create().host("127.0.0.1")
      .handle(new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(page.routes())))
      .bindNow();
  private final HttpClient http = HttpClient.newHttpClient();

  @AfterEach
  void close() {
    http.shutdownNow();
    server.disposeNow();
    throttler.rejectQueued();
    await().until(() -> throttler.views().stream().allMatch(view -> view.queued() == 0));
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
    var pods = DestinationSet
        .of(Stream.of(addresses).map(ip -> new Destination(ip, 8012)).toList());
    backends.revision(revisions.put(Revision.of(HELLO, 0)));
    backends
        .listed(new PrivateEndpoints(HELLO, new PodsByReadiness(pods, DestinationSet.NONE),
            PodsByReadiness.NONE));
  }

  String url(String path) {
    return "http://127.0.0.1:" + server.port() + path;
  }

  void addRevision() {
    throttler.onRevision(revisions.put(Revision.of(HELLO, 1)));
  }

  void addWaiting() {
    throttler.admit(revisions.of(HELLO), new StubQueuedCaller(loop));
  }

  void fail() {
    failed();
  }

  void addTrouble() {
    kind = "ScaledService";
    obstacles = List.of("there is no Service shop/<web>");
  }

  /** As soon as there is a follower. */
  void tick() {
    await()
        .until(() -> ticks.tryEmitNext(1) == Sinks.EmitResult.OK);
  }

  /** Pages are also well-formed XML. */
  private Document dom(String path) throws Exception {
    var html = get(path, BodyHandlers.ofString()).body();
    return DocumentBuilderFactory.newInstance().newDocumentBuilder()
        .parse(new InputSource(new StringReader(html.replace("<!DOCTYPE html>", ""))));
  }

  private static String text(Document page, String path) throws Exception {
    return XPathFactory.newInstance().newXPath().evaluate("normalize-space(" + path + ")", page);
  }

  @Test
  void isAPageWhoseScriptsAndStylesAreItsOwn() throws Exception {
    var html = get("/console", BodyHandlers.ofString());

    assertThat(html.headers().firstValue("Content-Type")).hasValue("text/html;charset=UTF-8");
    assertThat(html.headers().firstValue("Content-Security-Policy"))
        .hasValueSatisfying(policy -> assertThat(policy).startsWith("default-src 'self';")
            .doesNotContain("unsafe"));
    var linked = new ArrayList<String>();
    Pattern.compile("(?:src|href)=\"(/console/[^\"]*[.][^\"]*)\"").matcher(html.body()).results()
        .forEach(found -> linked.add(found.group(1)));
    assertThat(linked).containsExactlyInAnyOrder("/console/icon.svg",
        "/console/console.css", "/console/console.js");
    for (var path : linked) {
      assertThat(get(path, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
    }
    assertThat(get("/", BodyHandlers.ofString()).headers().firstValue("Location"))
        .hasValue("/console");
  }

  @Test
  void hasARowForEachService() throws Exception {
    throttler.onRevision(revisions.put(Revision.of(HELLO, 1)));
    activity.reported(List.of(new RevisionStat(HELLO, 1, 3)));
    hours.reported(List.of(new RevisionStat(HELLO, 1, 3)));
    seconds.addAndGet(1);
    var page = dom("/console");

    String row = "//table//tr[@id='r.default.hello-00001']";
    assertThat(text(page, row + "/th")).isEqualTo("hello-00001 default");
    assertThat(text(page, row + "/th/a/@href")).isEqualTo("/console/default/hello-00001");
    assertThat(text(page, row + "/td[1]")).isEqualTo("at zero");
    assertThat(text(page, row + "/td[2]")).isEqualTo("0 / 10");
    assertThat(text(page, row + "/td[6]")).isEqualTo("0.3");
    assertThat(text(page, row + "//*[name()='svg']/@aria-label"))
        .isEqualTo("at most 3 requests a minute in the last hour, and 7 queued");

    // and once the page has been open, it also knows how long requests take
    assertThat(text(page, row + "/td[8]")).isEqualTo("–");
    var virtual = new VirtualLoop();
    var request = FakeRequest.of(observers, virtual, revisions.of(HELLO));
    virtual.advance(Duration.ofNanos(2_500_000));
    request.ended(RequestOutcome.ANSWERED, 200);
    assertThat(text(dom("/console"), row + "/td[8]")).isEqualTo("2 ms");
  }

  /** A rollout that failed, and one after it that did not. */
  private void addLiveAndSuperseded() {
    var old = new RevisionId("default", "hello-00000");
    routings.put(old, new Routing("hello", RoutingState.SUPERSEDED));
    routings.put(HELLO, new Routing("hello", RoutingState.LIVE));
    throttler.onRevision(revisions.put(Revision.of(old, 1)));
    throttler.onRevision(revisions.put(Revision.of(HELLO, 1)));
    hours.sampled(List.of(new RevisionHourHistory.Sample(old, "cannot start", true, 0, 0, false)),
        true);
    hours.sampled(List.of(new RevisionHourHistory.Sample(old, "cannot start", true, 0, 1, false)),
        true);
  }

  @Test
  void showsTheStateOfTheLiveRevision_whenASupersededOneFails() throws Exception {
    addLiveAndSuperseded();
    var page = dom("/console");

    assertThat(text(page, "count(//tbody[@id='rows']/tr)")).isEqualTo("1");
    assertThat(text(page, "//tbody[@id='rows']/tr/td[1]")).startsWith("at zero");
    assertThat(text(page, "//tbody[@id='rows']/tr/td[10]")).isEmpty();
    assertThat(text(page, "count(//article)")).isEqualTo("0");
  }

  @Test
  void showsTheSupersededRevision_whenRequestsWaitForIt() throws Exception {
    addLiveAndSuperseded();
    var old = new RevisionId("default", "hello-00000");
    throttler.admit(revisions.of(old), new StubQueuedCaller(loop));
    await().until(() -> throttler.view(old).queued() == 1);

    assertThat(text(dom("/console"), "//article//h3")).isEqualTo("hello-00000 default");
  }

  @Test
  void redirectsFromTheNameOfAServiceToItsLiveRevision() throws Exception {
    addLiveAndSuperseded();

    var found = get("/console/default/hello", BodyHandlers.discarding());
    assertThat(found.statusCode()).isEqualTo(303);
    assertThat(found.headers().firstValue("Location")).hasValue("/console/" + HELLO);
    assertThat(get("/console/default/other", BodyHandlers.discarding()).statusCode())
        .isEqualTo(404);
  }

  @Test
  void answersHeadAsGetWithoutABody() throws Exception {
    throttler.onRevision(revisions.put(Revision.of(HELLO, 1)));
    for (var path : List.of("/", "/console", "/console/console.js", "/console/" + HELLO)) {
      var head = http.send(HttpRequest.newBuilder(URI.create(url(path)))
          .method("HEAD", HttpRequest.BodyPublishers.noBody()).build(), BodyHandlers.ofString());
      assertThat(head.statusCode()).as(path).isEqualTo(path.equals("/") ? 303 : 200);
      assertThat(head.body()).isEmpty();
    }
  }

  @Test
  void addsUpTheSituation() throws Exception {
    addWaiting();
    failed();
    seconds.addAndGet(1);
    var page = dom("/console");

    assertThat(text(page, "//dl[@class='tiles']"))
        .matches("requests a second0in flight0queued1oldest wait.*cold starts now1"
            + "errors, last minute1504 × 1");
  }

  @Test
  void namesTheAlertsThatWouldFire_withTheirRunbooks() throws Exception {
    assertThat(text(dom("/console"), "//section[@id='alerts']")).isEqualTo("No alert would fire.");

    alerts.now(List.of(new Alerts.Condition(Alerts.Rule.REQUESTS_HELD, "shop/web", "They <wait>")));
    seconds.addAndGet(61);
    String alert = "//section[@id='alerts']//li";
    assertThat(text(dom("/console"), alert))
        .isEqualTo("in 1 min ActivatorRequestsHeld They <wait>");
    seconds.addAndGet(61);
    assertThat(text(dom("/console"), alert)).isEqualTo("fires ActivatorRequestsHeld They <wait>");
    assertThat(text(dom("/console"), alert + "/a/@href"))
        .isEqualTo("https://runbooks/#activatorrequestsheld");
  }

  @Test
  void keepsFilterAndOrderInItsAddress() throws Exception {
    throttler.onRevision(revisions.put(Revision.of(HELLO, 1)));
    var other = new RevisionId("shop", "cart");
    throttler.onRevision(revisions.put(Revision.of(other, 1)));
    String first = "//tbody[@id='rows']/tr[1]/th";

    assertThat(text(dom("/console?sort=name&reversed=1"), first)).isEqualTo("cart shop");
    var found = dom("/console?q=CART+zero&sort=name");
    assertThat(text(found, "count(//tbody[@id='rows']/tr)")).isEqualTo("1");
    assertThat(text(found, first)).isEqualTo("cart shop");
    assertThat(text(found, "//input[@id='filter']/@value")).isEqualTo("CART zero");
    assertThat(text(found, "//a[@id='sort.name']/@href"))
        .isEqualTo("/console?q=CART+zero&sort=name&reversed=1");
    assertThat(text(found, "//th[@aria-sort]/@aria-sort")).isEqualTo("ascending");
    assertThat(text(dom("/console?q=%22%3E%3Cscript%3E&sort=nothing"), "//section[@id='services']"))
        .endsWith("None has these words.");
  }

  @Test
  void saysWhatHappenedInTheLastHour() throws Exception {
    throttler.onRevision(revisions.put(Revision.of(HELLO, 1)));
    hours.sampled(List.of(new RevisionHourHistory.Sample(HELLO, "serving", false, 1, 0, true)),
        true);
    hours.sampled(List.of(new RevisionHourHistory.Sample(HELLO, "cannot start", true, 0, 1, false)),
        true);
    var page = dom("/console/" + HELLO);

    assertThat(text(page, "//section[@id='hour']//ol")).contains("cannot start",
        "its process ended",
        "superseded");
    assertThat(text(page, "//section[@id='hour']//*[name()='svg'][3]/@aria-label"))
        .isEqualTo("pods: at most 1");
    assertThat(text(page, "//section[@id='hour']/p[@class='caption']"))
        .isEqualTo("0 requests, 0 failed, 1 cold start");
    assertThat(text(page, "//section[@id='head']//a[@id='u.log']/@href"))
        .isEqualTo("https://logs/?q=hello-00001");
    assertThat(text(dom("/console"), "//tbody[@id='rows']/tr/td[10]")).startsWith("superseded");
  }

  @Test
  void saysSinceWhenOnlyOfTheStateThatItShows() throws Exception {
    throttler.onRevision(revisions.put(Revision.of(HELLO, 1)));
    hours.sampled(List.of(new RevisionHourHistory.Sample(HELLO, "serving", false, 1, 0, true)),
        true);
    hours.sampled(List.of(new RevisionHourHistory.Sample(HELLO, "busy", false, 1, 0, true)), true);
    assertThat(text(dom("/console/" + HELLO), "//section[@id='head']/small")).isEmpty();

    hours.sampled(List.of(new RevisionHourHistory.Sample(HELLO, "at zero", false, 0, 0, true)),
        true);
    assertThat(text(dom("/console/" + HELLO), "//section[@id='head']/small")).startsWith("since ");
  }

  private FakeRequest failed() {
    var request = FakeRequest.of(hours, new VirtualLoop(), revisions.of(HELLO));
    request.ended(RequestOutcome.QUEUE_TIMEOUT, 504);
    return request;
  }

  @Test
  void showsAStartAsItHappens() throws Exception {
    addWaiting();
    await()
        .until(() -> throttler.start(HELLO).requested() != null);
    var page = dom("/console");

    String running = "//article//div[@class='running']";
    assertThat(text(page, running + "//li[@class='now']")).startsWith("pod ");
    assertThat(text(page, running + "//*[name()='svg']/@aria-label"))
        .startsWith("requested ").contains(" ago: pod ");
    assertThat(text(page, "//article//p[@class='why']")).contains("no pod is listed");
    assertThat(text(dom("/console/default/hello-00001"), "//section[@id='queue']"))
        .contains("waiting1 / 10", "Oldest waits: ");
  }

  @Test
  void showsFinishedStartsOnACommonScale() throws Exception {
    var page = dom("/console");

    assertThat(text(page, "//section[@id='starts']//tr[@data-name='default/hello-00001 answered']"))
        .contains("00:00:00 UTC", "3 ms", "answered", "200");
    assertThat(text(page, "//section[@id='starts']//*[name()='svg']/@aria-label"))
        .isEqualTo("pod 1 ms, answer 2 ms, queue 0 ms, dial 0 ms, first-byte 0 ms");
    assertThat(text(page, "//section[@id='starts']//p[@class='legend']"))
        .startsWith("pod answer queue dial first-byte on a common scale");
  }

  @Test
  void hasAPageForEachRevisionOnWhichNothingFromOutsideIsMarkup() throws Exception {
    list("10.0.0.1");
    throttler.onRevision(revisions.put(Revision.of(HELLO, 1)));
    var page = dom("/console/default/hello-00001");

    assertThat(text(page, "//p[@class='todo']")).startsWith("What to do: ");
    assertThat(text(page, "//section[@id='pods']//tbody/tr")).startsWith("10.0.0.1:8012");
    assertThat(text(page, "//section[@id='settings']//tbody/tr"))
        .isEqualTo("<b></td>since 00:00:00 UTC");
    assertThat(text(page, "//section[@id='events']//tbody/tr"))
        .isEqualTo("00:00:00 UTCBackOffPod p: <img src=x onerror=y>");
    assertThat(text(page, "//pre")).isEqualTo("<script>alert(1)</script>\ufffd[31m");
    assertThat(text(dom("/console/default/%3Cb%3E"), "//main")).contains("default/<b>",
        "There is no such Revision or ScaledService.");
  }

  @Test
  void readsEventsOnlyForTheirOwnPage() throws Exception {
    throttler.onRevision(revisions.put(Revision.of(HELLO, 1)));
    get("/console", BodyHandlers.discarding());
    assertThat(eventsRead).hasValue(0);

    get("/console/" + HELLO, BodyHandlers.discarding());
    assertThat(eventsRead).hasValue(1);
  }

  @Test
  void saysWhatIsInTheWayOfAScaledService() throws Exception {
    addTrouble();
    throttler.onRevision(revisions.put(Revision.of(HELLO, 1)));
    var list = dom("/console");

    assertThat(text(list, "//article//h3")).isEqualTo("hello-00001 default");
    assertThat(text(list, "//article//span[@role='status']")).isEqualTo("needs attention");
    assertThat(text(list, "//article//ul/li")).isEqualTo("there is no Service shop/<web>");
    var detail = dom("/console/" + HELLO);
    assertThat(text(detail, "//section[@id='head']//ul/li"))
        .isEqualTo("there is no Service shop/<web>");
    assertThat(text(detail, "//p[@class='todo']"))
        .isEqualTo("What to do: Fix what is in the way, as listed above.");
  }

  @Test
  void actsOnlyWhereItMay() throws Exception {
    throttler.onRevision(revisions.put(Revision.of(HELLO, 1)));
    for (var action : List.of("request", "zero", "restart")) {
      assertThat(post("/console/default/hello-00001/" + action, server.port())).isEqualTo(303);
    }
    assertThat(post("/console/default/hello-00001/other", server.port())).isEqualTo(404);
    assertThat(acted).containsExactly("request default/hello-00001", "zero default/hello-00001",
        "restart default/hello-00001");

    // in a cluster
    var reading = HttpServer.create().host("127.0.0.1").handle(new ReactorHttpHandlerAdapter(
        RouterFunctions.toHttpHandler(page(null).routes()))).bindNow();
    try {
      assertThat(post("/console/default/hello-00001/zero", reading.port())).isEqualTo(404);
      var html = http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + reading.port()
          + "/console/default/hello-00001")).build(), BodyHandlers.ofString()).body();
      assertThat(html).doesNotContain("<form", "<button");
    } finally {
      reading.disposeNow();
    }
  }

  @Test
  void offersToSendARequest_unlessItTakesConnectionsOnly() throws Exception {
    throttler.onRevision(revisions.put(Revision.of(HELLO, 1)));
    assertThat(text(dom("/console/" + HELLO), "//section[@id='actions']"))
        .contains("Send a request");

    kind = "ScaledService";

    assertThat(text(dom("/console/" + HELLO), "//section[@id='actions']"))
        .contains("Scale to zero").doesNotContain("Send a request");
  }

  @Test
  void letsTheBrowserSayThatAButtonIsOnOurPage() throws Exception {
    var page = get("/console/" + HELLO, BodyHandlers.discarding());

    assertThat(page.headers().firstValue("Referrer-Policy")).hasValue("same-origin");
  }

  private int post(String path, int port) throws Exception {
    return http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .POST(HttpRequest.BodyPublishers.noBody()).build(), BodyHandlers.discarding()).statusCode();
  }

  @Test
  void saysThatItDrains() throws Exception {
    unready = "This activator drains";

    assertThat(text(dom("/console"), "//p[@class='banner' and not(@id)]"))
        .isEqualTo("This activator drains");
  }

  @Test
  void sendsThePartsThatDiffer_whileAPageIsOpen() throws Exception {
    // given nobody, then a tick is for nobody
    assertThat(ticks.tryEmitNext(0)).isEqualTo(Sinks.EmitResult.FAIL_ZERO_SUBSCRIBER);

    // when a page is open, then it gets everything, and later only changes
    var lines = watch();
    assertThat(lines.next()).isEqualTo("event:parts");
    assertThat(lines.next())
        .startsWith("data:{\"order\":[\"summary\",\"alerts\",\"services\","
            + "\"starts\"],\"changed\":{\"summary\":\"<section id=");
    tick();
    assertThat(lines.next()).isEqualTo("event:parts");
    assertThat(lines.next()).doesNotContain("\"services\":", "\"starts\":");
    throttler.onRevision(revisions.put(Revision.of(HELLO, 1)));
    tick();
    assertThat(lines.next()).isEqualTo("event:parts");
    assertThat(lines.next()).startsWith("data:{\"order\":[\"summary\",\"alerts\","
        + "\"services\",\"r.default.hello-00001\",\"starts\"],\"changed\":{")
        .contains("\"r.default.hello-00001\":\"<tr id=").doesNotContain("\"starts\":");
  }

  /** Asks for so much at first. */
  private static final class Viewer extends BaseSubscriber<ServerSentEvent<Object>> {
    private final long asked;
    private final Queue<String> read = new ConcurrentLinkedQueue<>();

    Viewer(long asked) {
      this.asked = asked;
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      request(asked);
    }

    @Override
    protected void hookOnNext(ServerSentEvent<Object> event) {
      read.add(JsonMapper.shared().writeValueAsString(event.data()));
    }
  }

  @Test
  void goesOnForOthersWhileOneDoesNotReadAndGivesThatOneTheDifferenceLater() {
    var reading = new Viewer(Long.MAX_VALUE);
    var slow = new Viewer(1);
    page.events("", ServiceListQuery.ALL).subscribe(reading);
    page.events("", ServiceListQuery.ALL).subscribe(slow);
    await().until(() -> slow.read.size() == 1);

    throttler.onRevision(revisions.put(Revision.of(HELLO, 1)));
    for (int i = 1; i <= 100; i++) {
      int expected = i + 1;
      tick();
      await().until(() -> reading.read.size() == expected);
    }
    assertThat(slow.read).hasSize(1);

    slow.request(1);
    await().until(() -> slow.read.size() == 2);
    assertThat(slow.read.stream().skip(1)).singleElement().asString()
        .contains("<tr id=").doesNotContain("\"starts\":");
    reading.dispose();
    slow.dispose();
  }

  @Test
  void endsForAllWhoWatchWhenItIsClosed() throws Exception {
    var lines = watch();
    lines.next();
    lines.next();

    page.close();

    assertThat(lines.hasNext()).isFalse();
    assertThat(get("/console/updates", BodyHandlers.ofString()).statusCode()).isEqualTo(503);
  }

  @Test
  void refusesAViewer_untilAnotherLeaves() {
    var viewers = new LiveConsole.Viewers(2);

    assertThat(Stream.of(1, 2, 3).map(_ -> viewers.enter()).toList()).containsExactly(true, true,
        false);
    viewers.leave();
    assertThat(viewers.enter()).isTrue();
  }
}
