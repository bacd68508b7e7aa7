package dev.activator.ext.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.ColdStartRulesReader;
import dev.activator.observability.RequestOutcome;
import dev.activator.proxy.Activator;
import dev.activator.proxy.WireTest;
import dev.activator.revision.Revision;
import dev.activator.testing.RawHttp2;
import dev.activator.testing.TestValues;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests that must not wake their revision, over sockets. */
class DoNotWakeTest extends WireTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  @BeforeEach
  void rules() {
    activator.revisions.put(TestValues.withRules(Revision.of(Activator.HELLO, 0),
        ColdStartRulesReader.read(Map.of(), Map.of(ColdStartRulesReader.DO_NOT_WAKE, """
            - {path: /healthz, respond: {body: fine}}
            - {path: /empty, respond: {status: 204}}
            - {path: /unchanged, respond: {status: 304}}
            - {pathPrefix: /metrics, refuse: {retryAfterSeconds: 7}}
            """))));
  }

  @Test
  void getsTheAnswerOfItsRuleAtZero_andTheConnectionStays() throws Exception {
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET /healthz?x HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 fine");

      Activator.request(caller, "HEAD /healthz HTTP/1.1");
      var head = caller.readHead();
      assertThat(head.start()).isEqualTo("HTTP/1.1 200 OK");
      assertThat(head.header("Content-Length")).isEqualTo("4");

      Activator.request(caller, "GET /empty HTTP/1.1");
      head = caller.readHead();
      assertThat(head.start()).isEqualTo("HTTP/1.1 204 No Content");
      assertThat(head.header("Content-Length")).isNull();

      Activator.request(caller, "GET /metrics/pods HTTP/1.1");
      head = caller.readHead();
      assertThat(head.start()).startsWith("HTTP/1.1 503 ");
      assertThat(head.header("Retry-After")).isEqualTo("7");
      assertThat(head.header("K-Activator-Reason")).isEqualTo("not-woken");
      assertThat(caller.readBody(head)).isEqualTo("this request does not start the service\n");
    }
    assertThat(activator.arrivals).hasValue(0);
    assertThat(activator.throttle.queued()).isZero();
    assertThat(activator.requests.ended).hasSize(4)
        .allSatisfy(
            seen -> assertThat(seen.request().outcome()).isEqualTo(RequestOutcome.NOT_WOKEN));
  }

  @Test
  void aNotModifiedHasNoLength() throws Exception {
    try (var caller = activator.connect()) {
      Activator.request(caller, "GET /unchanged HTTP/1.1");
      var head = caller.readHead();
      assertThat(head.start()).isEqualTo("HTTP/1.1 304 Not Modified");
      assertThat(head.header("Content-Length")).isNull();

      Activator.request(caller, "GET /healthz HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 fine");
    }
  }

  @Test
  void anUnreadBodyDoesNotDisturbTheNextRequest() throws Exception {
    try (var caller = activator.connect()) {
      Activator.request(caller, "POST /healthz HTTP/1.1", "Content-Length: 5");
      assertThat(response(caller)).isEqualTo("200 fine");
      caller.send("hello");
      Activator.request(caller, "GET /healthz HTTP/1.1");
      assertThat(response(caller)).isEqualTo("200 fine");
    }
  }

  @Test
  void getsTheAnswerOfItsRuleInHttp2() throws Exception {
    try (var caller = activator.connect()) {
      var http2 = RawHttp2.caller(caller);
      http2.headers(1, true, ":method", "GET", ":scheme", "http", ":path", "/empty", ":authority",
          "hello.example", "knative-serving-namespace", "default", "knative-serving-revision",
          "hello-00001");

      var head = http2.read(RawHttp2.HEADERS);
      assertThat(head.field(":status")).isEqualTo("204");
      assertThat(head.field("content-length")).isNull();
      assertThat(head.field("k-activator-reason")).isEqualTo("not-woken");
    }
  }

  @Test
  void reachesThePodWhileItIsUp_andIsNotCounted() throws Exception {
    pod(OK);
    try (var caller = activator.get("/healthz")) {
      assertThat(response(caller)).isEqualTo("200 ok");
      assertThat(seen().start()).isEqualTo("GET /healthz HTTP/1.1");
    }
    assertThat(activator.arrivals).hasValue(0);
    assertThat(activator.throttle.granted()).isEqualTo(1);
    eventually(() -> assertThat(activator.throttle.inFlight()).isZero());
  }
}
