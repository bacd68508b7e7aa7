package dev.activator.management;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.testing.RawPeer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Flux;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** The management port of embedded mode, as browsers ask it. */
class OriginCheckTest {
  private final DisposableServer server = server(new OriginCheck("activator.internal"));
  private final DisposableServer forwarded = server(OriginCheck.forwarded("127.0.0.1"));

  private static DisposableServer server(OriginCheck check) {
    return HttpServer.create().host("127.0.0.1")
        .handle(new ReactorHttpHandlerAdapter(check.around(RouterFunctions.toHttpHandler(
            RouterFunctions.route(RequestPredicates.GET("/console/updates"),
                _ -> ServerResponse.ok().contentType(MediaType.TEXT_EVENT_STREAM)
                    .body(Flux.just("now").concatWith(Flux.never()), String.class))))))
        .bindNow();
  }

  @AfterEach
  void close() {
    server.disposeNow();
    forwarded.disposeNow();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {"Host: localhost:18015|200", "Host: 127.0.0.1|200",
      "Host: [::1]:18015|200", "Host: localhost:18015\\r\\nOrigin: http://localhost:18015|200",
      "Host: localhost\\r\\nOrigin: http://localhost|200", "Host: evil.example:18015|403",
      "Host: localhost:18015\\r\\nOrigin: http://localhost:3000|403",
      "Host: localhost:18015\\r\\nOrigin: http://evil.example:18015|403", "Host: |403"})
  void takesAnyPortOfLoopbackWherePortsAreForwarded(String headers, int status) throws Exception {
    assertThat(ask(forwarded, headers).start()).startsWith("HTTP/1.1 " + status + " ");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {"Host: localhost:PORT|200", "Host: 127.0.0.1:PORT|200",
      "Host: [::1]:PORT|200", "Host: activator.internal:PORT|200",
      "Host: localhost:PORT\\r\\nOrigin: http://localhost:PORT|200", "Host: evil.example:PORT|403",
      "Host: localhost:1|403", "Host: |403",
      "Host: localhost:PORT\\r\\nOrigin: http://evil.example|403",
      "Host: localhost:PORT\\r\\nOrigin: http://localhost:3000|403"})
  void answersItsOwnPages(String headers, int status) throws Exception {
    assertThat(ask(headers).start()).startsWith("HTTP/1.1 " + status + " ");
  }

  @Test
  void streamsEventsToItsOwnPage() throws Exception {
    var head = ask("Host: localhost:PORT\\r\\nAccept: text/event-stream");

    assertThat(head.header("Content-Type")).startsWith("text/event-stream");
  }

  @Test
  void saysWhyInPlainText() throws Exception {
    assertThat(ask("Host: <script>").all("Content-Type")).containsExactly("text/plain");
  }

  private RawPeer.Head ask(String headers) throws Exception {
    return ask(server, headers);
  }

  private static RawPeer.Head ask(DisposableServer server, String headers) throws Exception {
    try (var peer = RawPeer.connect(server.port())) {
      peer.send("GET /console/updates HTTP/1.1\r\n"
          + headers.replace("\\r\\n", "\r\n").replace("PORT", String.valueOf(server.port()))
          + "\r\n\r\n");
      return peer.readHead();
    }
  }
}
