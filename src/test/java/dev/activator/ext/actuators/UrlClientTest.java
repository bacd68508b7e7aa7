package dev.activator.ext.actuators;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.ConfigValue;
import dev.activator.embedded.api.Objects;
import dev.activator.embedded.api.store.BuiltInKinds;
import dev.activator.embedded.runtime.ScaledServiceCrd;
import dev.activator.http.UrlCaller;
import dev.activator.kube.ClusterAccess;
import dev.activator.kube.ScalingApiClients;
import dev.activator.kube.reflector.KubernetesWriteRateLimiter;
import dev.activator.revision.RevisionId;
import dev.activator.revision.ScaleApiResult;
import dev.activator.revision.ScaleApiResult.Found;
import dev.activator.revision.ScaleApiResult.Reason;
import dev.activator.revision.ScaleApiResult.Refused;
import dev.activator.revision.ScaleApiResult.Undecided;
import dev.activator.testing.EmbeddedApi;
import dev.activator.testing.faults.Fault;
import dev.activator.testing.faults.Match;
import dev.activator.testing.faults.Verb;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import okhttp3.Dns;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/** Over HTTP, against the API of embedded mode and an API of machines. */
class UrlClientTest {
  private static final RevisionId WEB = new RevisionId("shop", "web");
  private static final Duration LONG = Duration.ofSeconds(120);
  private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

  private final EmbeddedApi server = EmbeddedApi.start();
  private final Machines machines;
  private final ScalingApiClients session = new ScalingApiClients(
      new ClusterAccess.At(URI.create(server.url())), () -> KubernetesWriteRateLimiter.UNLIMITED,
      LONG);
  private final UrlClient client;
  private final HttpTarget target;

  UrlClientTest() throws Exception {
    machines = new Machines();
    client = client(Dns.SYSTEM, machines.url(""));
    target = target(machines.url("/start?key=hidden"), machines.url("/stop"), "", 10);
  }

  private UrlClient client(Dns names, String... prefixes) {
    return new UrlClient(session::scaling, LONG,
        Stream.of(prefixes).map(one -> WakeUrl.parsePrefix("prefix", one)).toList(),
        new UrlCaller(names, new AddressCheck(server::url, Dns.SYSTEM), Duration.ZERO),
        () -> NOW);
  }

  private static HttpTarget target(String start, String stop, String more,
      int seconds) {
    return HttpTarget.read(ConfigValue.parse("spec.wake.http", "{start: {url: '" + start + "'"
        + more + "}, stop: {url: '" + stop + "', method: PUT}, timeoutSeconds: " + seconds + "}"));
  }

  @BeforeEach
  void open() {
    session.open();
    // The first request loads the client's classes, which a busy machine takes seconds for.
    session.scaling().fetch("version", Duration.ofMinutes(1)).join();
    ScaledServiceCrd.createIn(server.store());
    server.store().create(ScaledServiceCrd.of(server.store()), Objects.parse("""
        {'metadata': {'namespace': 'shop', 'name': 'web'}, 'spec': {'wake': {'http': {
          'start': {'url': 'http://a/'}, 'stop': {'url': 'http://a/'}}},
         'serviceRef': {'name': 'web', 'port': 'http'}, 'target': {'concurrency': 2}}}
        """));
  }

  @AfterEach
  void close() {
    session.close();
    server.close();
    machines.close();
  }

  private static ScaleApiResult result(CompletableFuture<ScaleApiResult> future) throws Exception {
    return future.get(120, SECONDS);
  }

  private Found read() throws Exception {
    return switch (result(client.read(WEB, target))) {
      case Found found -> found;
      case Undecided undecided -> undecided.with(0);
      case Refused refused -> throw new AssertionError(refused);
    };
  }

  private String state() {
    return server.store().find(ScaledServiceCrd.of(server.store()), "shop", "web")
        .at("/status/wake/state").asString("");
  }

  private void touchStatus() {
    server.store().edit(ScaledServiceCrd.of(server.store()), "shop", "web", found -> {
      var status = (ObjectNode) found.path("status");
      status.put("replicas", status.path("replicas").asInt(0) + 1);
      return found;
    });
  }

  @Test
  void writesWhatItDoes_beforeAndAfterEachCall() throws Exception {
    var seen = new AtomicReference<String>();
    machines.onCall(() -> seen.set(state()));

    var started = (Found) result(client.write(WEB, target, read(), 1));

    assertThat(started.replicas()).isEqualTo(1);
    assertThat(seen).hasValue("Starting");
    assertThat(state()).isEqualTo("Running");
    assertThat(read()).isEqualTo(started);

    assertThat(((Found) result(client.write(WEB, target, started, 0))).replicas()).isZero();

    assertThat(seen).hasValue("Stopping");
    assertThat(state()).isEqualTo("Stopped");
    assertThat(machines.calls()).containsExactly("POST /start", "PUT /stop");
  }

  @Test
  void toleratesOtherWritersOfTheStatus() throws Exception {
    var read = read();
    touchStatus();
    machines.onCall(this::touchStatus);

    assertThat(result(client.write(WEB, target, read, 1))).isInstanceOf(Found.class);
    assertThat(state()).isEqualTo("Running");
  }

  @Test
  void callsNothing_ifAnotherLeaderWroteSinceTheRead() throws Exception {
    var read = read();
    result(client.write(WEB, target, read, 1));

    var refused = (Refused) result(client.write(WEB, target, read, 0));

    assertThat(refused.reason()).isEqualTo(Reason.CONFLICT);
    assertThat(machines.calls()).containsExactly("POST /start");
  }

  @Test
  void callsNothing_ifTheStateCannotBeWritten() throws Exception {
    var read = read();
    server.faults().add(Match.requests(Verb.PATCH), Fault.Answer.status(500));

    assertThat(((Refused) result(client.write(WEB, target, read, 1))).reason())
        .isEqualTo(Reason.UNAVAILABLE);
    assertThat(machines.calls()).isEmpty();
  }

  @Test
  void aLaterLeaderRepeatsACall_whoseOutcomeIsUnknown() throws Exception {
    machines.answer("/start", 500);
    result(client.write(WEB, target, read(), 1));
    assertThat(state()).isEqualTo("Starting");
    machines.answer("/start", 200);

    var next = (Undecided) result(client.read(WEB, target));
    result(client.write(WEB, target, next.with(0), 1));

    assertThat(machines.calls()).containsExactly("POST /start", "POST /start");
    assertThat(state()).isEqualTo("Running");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {"500 | was answered with 500",
      "302 | was answered with 302, and redirects are not followed",
      "409 | was answered with 409"})
  void saysHowACallWasAnswered_butNotItsBodyOrQuery(int status, String message) throws Exception {
    machines.answer("/start", status);
    machines.retryAfter("7");

    var refused = (Refused) result(client.write(WEB, target, read(), 1));

    assertThat(refused.reason()).isEqualTo(Reason.FAILED);
    assertThat(refused.message())
        .isEqualTo("cannot start: POST " + machines.url("/start") + " " + message);
    assertThat(refused.retryAfter()).isEqualTo(Duration.ofSeconds(7));
    assertThat(machines.calls()).containsExactly("POST /start");
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(ints = {401, 407, 408, 421, 503})
  void sendsACallOnce_whateverTheAnswer(int status) throws Exception {
    machines.answer("/start", status);
    machines.retryAfter("0");

    var refused = (Refused) result(client.write(WEB, target, read(), 1));

    assertThat(refused.message()).contains("was answered with " + status);
    assertThat(machines.calls()).containsExactly("POST /start");
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"POST", "GET"})
  void sendsACallOnce_thoughItsHostHasAnotherAddress(String method) throws Exception {
    var calls = new AtomicInteger();
    Dns names = _ -> List.of(InetAddress.ofLiteral("127.0.0.1"),
        InetAddress.ofLiteral("127.0.0.2"));
    try (var listener = new ServerSocket(0)) {
      Thread.ofVirtual().start(() -> {
        while (!listener.isClosed()) {
          try (var socket = listener.accept()) {
            new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII)).lines()
                .takeWhile(line -> !line.isEmpty()).filter(line -> line.startsWith(method))
                .forEach(_ -> calls.incrementAndGet());
          } catch (IOException | UncheckedIOException _) {
            // The listener, or the caller, has closed.
          }
        }
      });
      var url = "http://localhost:" + listener.getLocalPort() + "/start";
      var once = target(url, url, ", method: " + method, 10);

      var refused = (Refused) result(client(names, url).write(WEB, once, read(), 1));

      assertThat(refused.message()).endsWith("the connection broke before an answer in HTTP");
      assertThat(calls).hasValue(1);
    }
  }

  @Test
  void triesTheOtherAddressesOfAHost_untilOneTakesConnections() throws Exception {
    Dns names = _ -> List.of(InetAddress.ofLiteral("127.0.0.2"),
        InetAddress.ofLiteral("127.0.0.1"));
    var url = machines.url("/start").replace("127.0.0.1", "localhost");

    assertThat(result(client(names, url).write(WEB, target(url, url, "", 10), read(), 1)))
        .isInstanceOf(Found.class);
  }

  /** A peer that does this with each connection. */
  private Refused refusedBy(String scheme, int seconds, Consumer<Socket> peer)
      throws Exception {
    var accepted = new CopyOnWriteArrayList<Socket>();
    try (var listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> {
        while (!listener.isClosed()) {
          try {
            var socket = listener.accept();
            // One that is not reachable would be closed.
            accepted.add(socket);
            peer.accept(socket);
          } catch (Exception _) {
            return;
          }
        }
      });
      var url = scheme + "://127.0.0.1:" + listener.getLocalPort() + "/start";
      return (Refused) result(
          client(Dns.SYSTEM, url).write(WEB, target(url, url, "", seconds), read(), 1));
    }
  }

  private static void write(Socket socket, String text) {
    try {
      socket.getOutputStream().write(text.getBytes());
      socket.close();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static void reset(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void saysWhyThereIsNoAnswer() throws Exception {
    var silent = refusedBy("http", 1, _ -> {
    });
    assertThat(silent.message()).endsWith("/start failed: there was no answer within 1 s");
    assertThat(silent.reason()).isEqualTo(Reason.FAILED);
    assertThat(refusedBy("http", 10, UrlClientTest::reset).message())
        .endsWith("failed: the connection broke before an answer in HTTP");
    assertThat(refusedBy("http", 10, socket -> write(socket, "SSH-2.0-x\r\n")).message())
        .endsWith("failed: the connection broke before an answer in HTTP");
    assertThat(refusedBy("https", 10, socket -> write(socket, "HTTP/1.1 400 Bad Request\r\n\r\n"))
        .message()).endsWith("failed: TLS failed: its certificate is not trusted, or it speaks no"
            + " TLS");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {
      "127.0.0.1 | FORBIDDEN | 127.0.0.1, the activator's own address, which no allowed",
      "169.254.169.254 | FORBIDDEN | 169.254.169.254, a link-local address or one of a metadata",
      "'' | FAILED | its host name has no address"})
  void checksTheAddressThatIsConnected_whateverTheNameIs(String address, Reason reason,
      String message) throws Exception {
    Dns names = _ -> address.isEmpty() ? List.of() : List.of(InetAddress.ofLiteral(address));
    var url = machines.url("/start").replace("127.0.0.1", "machines.example.com");

    var refused = (Refused) result(
        client(names, url).write(WEB, target(url, url, "", 10), read(), 1));

    assertThat(refused.reason()).isEqualTo(reason);
    assertThat(refused.message()).contains(message);
    assertThat(machines.calls()).isEmpty();
  }

  @Test
  void readsAndCallsNothing_thatNoPrefixAllows() throws Exception {
    var other = client(Dns.SYSTEM, machines.url("/stop"), "https://127.0.0.1/");

    for (var answer : List.of(other.read(WEB, target), other.write(WEB, target, read(), 1))) {
      var refused = (Refused) result(answer);
      assertThat(refused.reason()).isEqualTo(Reason.FORBIDDEN);
      assertThat(refused.message()).startsWith("POST " + machines.url("/start")
          + " may not be sent by this installation");
    }
    assertThat(state()).isEmpty();
    assertThat(machines.calls()).isEmpty();
  }

  @Test
  void sendsAHeaderFromASecret_asItIsAtThatTime() throws Exception {
    secret("Bearer one\n");
    var secured = target(machines.url("/start"), machines.url("/stop"),
        ", headersFrom: [{name: Authorization, secretKeyRef: {name: vm, key: token}}]", 10);
    result(client.write(WEB, secured, read(), 1));
    server.store().delete(BuiltInKinds.SECRET, "shop", "vm");
    result(client.write(WEB, secured, read(), 0));

    var missing = (Refused) result(client.write(WEB, secured, read(), 1));

    assertThat(machines.calls()).containsExactly("POST /start Bearer one", "PUT /stop");
    assertThat(missing.message())
        .isEqualTo("cannot send a header: the Secret vm in namespace shop does not exist");
    secret("two\nlines");
    var invalid = (Refused) result(client.write(WEB, secured, read(), 1));
    assertThat(invalid.message()).isEqualTo("cannot send a header: the Secret vm in namespace shop"
        + " has no key token with a value that a header can have");
    server.faults().add(Match.requests(Verb.GET).of(BuiltInKinds.SECRET),
        Fault.Answer.status(403));
    var forbidden = (Refused) result(client.write(WEB, secured, read(), 1));
    assertThat(forbidden.reason()).isEqualTo(Reason.FORBIDDEN);
    assertThat(forbidden.message()).contains("standalone.wake.http.secrets");
    assertThat(state()).isEqualTo("Stopped");
  }

  private void secret(String token) {
    server.store().create(BuiltInKinds.SECRET, Objects.parse("{'metadata': {'namespace': 'shop',"
        + " 'name': 'vm'}, 'data': {'token': '" + java.util.Base64.getEncoder()
            .encodeToString(token.getBytes())
        + "'}}"));
  }
}
