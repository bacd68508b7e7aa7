package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.HeaderFieldList;
import dev.activator.observability.RequestOutcome;
import dev.activator.revision.RevisionId;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ErrorFormatTest {
  private static final RevisionId HELLO = new RevisionId("default", "hello-00001");
  private static final List<RequestFailure> ALL = List.of(RequestFailure.badRequest("x"),
      RequestFailure.headTooLarge(), RequestFailure.unknownVersion(),
      RequestFailure.unknownCoding(),
      RequestFailure.unknownExpectation(), RequestFailure.unknownRevision("<b>"),
      RequestFailure.lookupFailed(), RequestFailure.queueFull(7),
      RequestFailure.memoryFull(7),
      RequestFailure.deadlineTooNear(7), RequestFailure.revisionGone(HELLO),
      RequestFailure.cannotStart(HELLO, "ExitCode1", ""),
      RequestFailure.timedOut(RequestOutcome.QUEUE_TIMEOUT, "no pod is listed"),
      RequestFailure.unresponsive("connection reset"),
      RequestFailure.podGone(), RequestFailure.unreachable(),
      RequestFailure.unread(), RequestFailure.internal());

  private static ErrorFormat of(String accept, String contentType) {
    var headers = new DefaultHttpHeaders();
    if (!accept.isEmpty()) {
      headers.set("Accept", accept);
    }
    if (!contentType.isEmpty()) {
      headers.set("Content-Type", contentType);
    }
    return ErrorFormat.of(HeaderFieldList.of(headers));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      ''                                                              | TEXT
      */*                                                             | TEXT
      text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8 | HTML
      application/json                                                | JSON
      application/problem+json                                        | JSON
      application/vnd.api+json                                        | JSON
      application/json, text/plain, */*                               | JSON
      Text/HTML                                                       | HTML
      text/html;q=0.2, application/json;q=0.9                         | JSON
      application/json;q=0.2, text/html; q=0.9                        | HTML
      application/json;q=0                                            | TEXT
      application/json;q=x                                            | TEXT
      image/png, image/*;q=0.8                                        | TEXT
      text/plain, application/json;q=0.9                              | TEXT
      application/grpc                                                | TEXT
      """)
  void isWhatTheCallerPrefers(String accept, ErrorFormat.Kind format) {
    assertThat(of(accept, "").kind()).isEqualTo(format);
  }

  @Test
  void readsAHundredElementsOfAcceptAtMost() {
    assertThat(of("x,".repeat(99) + "application/json", "").kind())
        .isEqualTo(ErrorFormat.Kind.JSON);
    assertThat(of("x,".repeat(100) + "application/json", "").kind())
        .isEqualTo(ErrorFormat.Kind.TEXT);
  }

  @Test
  void ofGrpcIsText() {
    assertThat(of("application/json", "application/grpc+proto")).isEqualTo(ErrorFormat.TEXT);
  }

  @Test
  void hasTheSameStatusReasonAndHeadersInAllThree() {
    for (var failure : ALL) {
      var text = failure.answer();
      for (var kind : ErrorFormat.Kind.values()) {
        var other = failure.answer(new ErrorFormat(kind, "id"));
        assertThat(other.status()).isEqualTo(text.status());
        assertThat(other.headers().get(RequestFailure.REASON))
            .isEqualTo(text.headers().get(RequestFailure.REASON));
        assertThat(other.headers().get("Retry-After"))
            .isEqualTo(text.headers().get("Retry-After"));
      }
    }
  }

  @Test
  void ofAProgramIsAProblem() {
    var problem = RequestFailure.cannotStart(HELLO, "ExitCode1", "says \"no\"")
        .answer(new ErrorFormat(ErrorFormat.Kind.JSON, "4711"));

    assertThat(problem.headers()).containsEntry("Content-Type", "application/problem+json");
    assertThat(problem.body()).isEqualTo("{\"type\":\"about:blank\","
        + "\"title\":\"Service Unavailable\",\"status\":503,"
        + "\"detail\":\"revision default/hello-00001 cannot start: says \\\"no\\\"\","
        + "\"reason\":\"cannot-start\",\"cause\":\"ExitCode1\",\"requestId\":\"4711\"}\n");
    assertThat(RequestFailure.internal()
        .answer(new ErrorFormat(ErrorFormat.Kind.JSON, "")).body()).isEqualTo(
            "{\"type\":\"about:blank\",\"title\":\"Internal Server Error\",\"status\":500}\n");
  }

  @Test
  void isAnEscapedHtmlPageWithoutScripts_whenTheCallerIsABrowser() {
    var page = RequestFailure.unknownRevision("<script>")
        .answer(new ErrorFormat(ErrorFormat.Kind.HTML, "<i>"));

    assertThat(page.headers()).containsEntry("Content-Type", "text/html; charset=utf-8")
        .hasEntrySatisfying("Content-Security-Policy",
            policy -> assertThat(policy).startsWith("default-src 'none'; ")
                .doesNotContain("unsafe", "script"));
    assertThat(page.body()).contains("<h1>404 Not Found</h1>", "&quot;&lt;script&gt;&quot;",
        "Check the address", "Request <code>&lt;i&gt;</code>").doesNotContain("<script");
    assertThat(
        RequestFailure.queueFull(3).answer(new ErrorFormat(ErrorFormat.Kind.HTML, "")).body())
        .contains("Reason <code>queue-full</code>", "Try again in 3 seconds.")
        .doesNotContain("Request <code>");
  }

  @ParameterizedTest
  @CsvSource({"abc, '', abc", "'', 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01,"
      + " 4bf92f3577b34da6a3ce929d0e0e4736", "'', x, ''", "'', '', ''"})
  void namesTheRequestAsTheProxyBeforeUsDoes(String id, String traceparent, String expected) {
    var headers = new DefaultHttpHeaders().set("Accept", "text/html");
    if (!id.isEmpty()) {
      headers.set("X-Request-Id", id);
    }
    if (!traceparent.isEmpty()) {
      headers.set("traceparent", traceparent);
    }

    assertThat(ErrorFormat.of(HeaderFieldList.of(headers)).requestId()).isEqualTo(expected);
  }
}
