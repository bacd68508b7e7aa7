package dev.activator.management;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpStatus;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.http.server.reactive.MockServerHttpResponse;

class MetricsAndLivenessHandlerTest {
  private final AtomicInteger made = new AtomicInteger();
  private boolean isScraped = true;
  private final MetricsAndLivenessHandler page = new MetricsAndLivenessHandler(() -> isScraped,
      type -> "in " + type, new LazyHandler(() -> {
        made.incrementAndGet();
        return (_, response) -> {
          response.setStatusCode(HttpStatus.I_AM_A_TEAPOT);
          return response.setComplete();
        };
      })::handle);

  private MockServerHttpResponse ask(MockServerHttpRequest request) {
    var response = new MockServerHttpResponse();
    page.handle(request, response).block();
    return response;
  }

  @ParameterizedTest(name = "Accept: {0}")
  @CsvSource(delimiter = '|', value = {"*/*|text/plain; version=0.0.4; charset=utf-8",
      "application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1|application/openmetrics-text; version=1.0.0; charset=utf-8"})
  void answersInTheRequestedFormat(String accept, String type) {
    var response = ask(MockServerHttpRequest.get("/metrics").header("Accept", accept).build());

    assertThat(response.getHeaders().getFirst("Content-Type")).isEqualTo(type);
    assertThat(response.getBodyAsString().block()).isEqualTo("in " + type);
    assertThat(response.getHeaders().getContentLength()).isEqualTo(3 + type.length());
  }

  @ParameterizedTest(name = "Accept-Encoding: {0}")
  @CsvSource(delimiter = '|', value = {"gzip|true", "deflate, gzip;q=0.5|true", "X-GZIP|true",
      "gzip;q=0|false", "gzip; q=0.0|false", "identity|false", "gzipped|false", "''|false"})
  void compressesMetricsForThoseWhoTakeIt(String accepted, boolean zips) throws Exception {
    var response = ask(MockServerHttpRequest.get("/metrics").header("Accept-Encoding", accepted)
        .build());

    assertThat(response.getHeaders().getFirst("Content-Encoding")).isEqualTo(zips ? "gzip" : null);
    assertThat(response.getHeaders().getFirst("Vary")).isEqualTo("Accept-Encoding");
    var bytes = DataBufferUtils.join(response.getBody()).map(each -> {
      var all = new byte[each.readableByteCount()];
      each.read(all);
      return all;
    }).block();
    assertThat(response.getHeaders().getContentLength()).isEqualTo(bytes.length);
    var text = zips
        ? new GZIPInputStream(new ByteArrayInputStream(bytes)).readAllBytes()
        : bytes;
    assertThat(new String(text, UTF_8)).startsWith("in text/plain");
  }

  @Test
  void answersHeadAsItDoesGet() {
    assertThat(ask(MockServerHttpRequest.head("/metrics").build()).getHeaders().getFirst(
        "Content-Length")).isEqualTo("43");
    assertThat(ask(MockServerHttpRequest.head("/actuator/health/liveness").build()).getStatusCode())
        .isNull();
    assertThat(made).hasValue(0);
  }

  @Test
  void isNotFoundUnlessScrapingIsEnabled() {
    isScraped = false;
    assertThat(ask(MockServerHttpRequest.get("/metrics").build()).getStatusCode())
        .isEqualTo(HttpStatus.NOT_FOUND);
  }

  @Test
  void isAliveAsLongAsItAnswers() {
    var response = ask(MockServerHttpRequest.get("/actuator/health/liveness").build());

    assertThat(response.getBodyAsString().block()).isEqualTo("{\"status\":\"UP\"}");
    assertThat(response.getHeaders().getFirst("Content-Type"))
        .isEqualTo("application/vnd.spring-boot.actuator.v3+json");
  }

  @Test
  void makesTheOtherPagesOnce_whenOneIsRequested() {
    ask(MockServerHttpRequest.get("/metrics").build());
    ask(MockServerHttpRequest.get("/actuator/health/liveness").build());
    assertThat(made).hasValue(0);

    for (var other : new String[]{"/", "/metrics/", "/actuator/health"}) {
      assertThat(ask(MockServerHttpRequest.get(other).build()).getStatusCode())
          .isEqualTo(HttpStatus.I_AM_A_TEAPOT);
    }
    assertThat(ask(MockServerHttpRequest.post("/metrics").build()).getStatusCode())
        .isEqualTo(HttpStatus.I_AM_A_TEAPOT);
    assertThat(made).hasValue(1);
  }

  @Test
  void makesThemOnAnotherThreadThanThePortsLoop() {
    var makers = new ArrayList<Thread>();
    var slow = new LazyHandler(() -> {
      makers.add(Thread.currentThread());
      return (_, response) -> response.setComplete();
    });

    slow.handle(MockServerHttpRequest.get("/console").build(), new MockServerHttpResponse())
        .block();

    assertThat(makers).doesNotContain(Thread.currentThread()).hasSize(1);
  }
}
