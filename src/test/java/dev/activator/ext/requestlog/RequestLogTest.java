package dev.activator.ext.requestlog;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.activator.config.ObservabilityConfig;
import dev.activator.lifecycle.Extension.StartOrder;
import dev.activator.observability.AsyncLineWriter;
import dev.activator.observability.FakeRequest;
import dev.activator.observability.RequestObservers;
import dev.activator.observability.RequestOutcome;
import dev.activator.testing.LogLines;
import dev.activator.testing.VirtualLoop;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestLogTest {
  private final VirtualLoop loop = new VirtualLoop();
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final AsyncLineWriter out = new AsyncLineWriter(bytes);
  private final RequestObservers observers = new RequestObservers();
  private final RequestLog log = new RequestLog(observers, out);

  @Test
  @DisplayName("writes nothing without a template")
  void writesNothingWithoutATemplate() {
    log.use(Optional.empty());
    FakeRequest.of(observers, loop).answered(200, ofMillis(1));

    assertThat(written()).isEmpty();
    assertThat(observers.all()).isEmpty();
  }

  @Test
  void followsTheConfigMap() throws Exception {
    var settings = ObservabilityConfig.live("config-observability");
    var extension = new RequestLogConfiguration().requestlog(observers, out, settings);
    for (var part : extension.parts(StartOrder.BEFORE_REQUESTS)) {
      part.start().run();
    }
    FakeRequest.of(observers, loop).answered(200, ofMillis(1));
    settings.delivered(Map.of("logging.enable-request-log", "true",
        "logging.request-log-template", "{{.Response.Code}}"));
    FakeRequest.of(observers, loop).answered(201, ofMillis(1));
    settings.delivered(Map.of());
    FakeRequest.of(observers, loop).answered(202, ofMillis(1));

    assertThat(written()).isEqualTo("201\n");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"'{{.Request.URL}}'", "'{{.Request.URL}}\n'"})
  @DisplayName("ends each line once")
  void endsEachLineOnce(String template) {
    use(template);
    FakeRequest.of(observers, loop).answered(200, ofMillis(1));

    assertThat(written()).isEqualTo("/greet?a=b\n");
  }

  @Test
  @DisplayName("knows the length that was announced")
  void knowsTheLengthThatWasAnnounced() {
    use("{{.Request.ContentLength}}");
    FakeRequest.of(observers, loop).header("Content-Length", 4).answered(200, ofMillis(1));
    var streamed = FakeRequest.of(observers, loop);
    streamed.read(4);
    streamed.answered(200, ofMillis(1));
    FakeRequest.of(observers, loop).answered(200, ofMillis(1));

    assertThat(written()).isEqualTo("4\n-1\n0\n");
  }

  @Test
  @DisplayName("names revision, service and configuration, and no pod")
  void namesTheRevision() {
    use("{{.Revision.Name}}, {{.Revision.Namespace}}, {{.Revision.Service}}, "
        + "{{.Revision.Configuration}}, {{.Revision.PodName}}, {{.Revision.PodIP}}");
    FakeRequest.of(observers, loop).answered(200, ofMillis(1));

    assertThat(written()).isEqualTo("testRevision, testNs, testSvc, testConfig, , \n");
  }

  @Test
  @DisplayName("writes a line for a response that was broken off")
  void writesALineForABrokenResponse() {
    use("{{.Response.Code}} {{.Response.Size}}");
    var request = FakeRequest.of(observers, loop);
    request.begin();
    request.granted(FakeRequest.POD);
    request.responding(200);
    request.wrote(17);
    request.ended(RequestOutcome.CALLER_GONE, 499);

    assertThat(written()).isEqualTo("499 17\n");
  }

  @ParameterizedTest(name = "{0} has {1}, {2}, {3}")
  @CsvSource({"http://a.example:81/b?c=d, http, a.example:81, /b",
      "http://a.example?c=/d, http, a.example, ''", "/b?c=http://a/, '', '', /b"})
  void readsTheTargetAsAUrl(String target, String scheme, String host, String path) {
    use("{{.Request.URL.Scheme}},{{.Request.URL.Host}},{{.Request.URL.Path}}");
    var request = FakeRequest.of(observers, loop);
    request.target = target;
    request.answered(200, ofMillis(1));

    assertThat(written()).isEqualTo(scheme + "," + host + "," + path + "\n");
  }

  @Test
  @DisplayName("a template with an unknown field is invalid")
  void saysThatATemplateIsInvalid() {
    use("{{.Request.Something}}");
    FakeRequest.of(observers, loop).answered(404, ofMillis(30));

    assertThat(written()).isEqualTo("Invalid request log template: method: GET, response code: 404,"
        + " latency: 0.03, url: /greet?a=b\n");
  }

  @Test
  @DisplayName("takes the template that held when the request came")
  void takesTheTemplateThatHeldWhenTheRequestCame() {
    use("first");
    var early = FakeRequest.of(observers, loop);
    early.begin();
    use("second");
    FakeRequest.of(observers, loop).answered(200, ofMillis(1));
    log.use(Optional.empty());
    FakeRequest.of(observers, loop).answered(200, ofMillis(1));
    early.ended(RequestOutcome.CALLER_GONE, 499);

    assertThat(written()).isEqualTo("second\nfirst\n");
  }

  @Test
  @DisplayName("keeps the working template when the next makes no sense")
  void keepsTheWorkingTemplate() {
    use("{{.Response.Code}}");
    use("{{}}");
    FakeRequest.of(observers, loop).answered(201, ofMillis(1));

    assertThat(written()).isEqualTo("201\n");
  }

  @Test
  void namesTheSettingOfATemplateThatCannotBeUsed_whenThereIsNoPreviousOne() {
    try (var lines = LogLines.of(RequestLog.class)) {
      use("{{printf `%d` .Response.Code}}");

      assertThat(lines.at(Level.ERROR)).filteredOn(line -> line.contains("printf"))
          .singleElement().asString().startsWith(
              "logging.request-log-template cannot be used, so the request log stays as it was: ");
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '~', quoteCharacter = '^', textBlock = """
      {{.Request.URL}} {{.Request.URL.Path}} {{.Request.URL.RawQuery}}~/gr%20eet?a=b+c&a=d&e /gr eet a=b+c&a=d&e
      {{.Request.URL.Query.Get "a"}}|{{index .Request.URL.Query "a"}}|{{.Request.URL.Query.Has "e"}}~b c|[b c d]|true
      {{.Request.URL.Scheme}}{{.Request.URL.Host}}.{{.Request.URL.RequestURI}}~./gr%20eet?a=b+c&a=d&e
      {{if eq .Request.Method "GET" "HEAD"}}read{{else}}write{{end}}~read
      {{if ge .Response.Code 500}}error{{else if ge .Response.Code 400}}bad{{else}}good{{end}}~bad
      {{.Request.Proto}} {{.Request.ProtoMajor}}.{{.Request.ProtoMinor}}~HTTP/1.1 1.1
      {{.Request.Header.Get "Host"}}|{{index .Request.Header "X-One" 0}}|{{.Request.Header.Values "x-one"}}~|1|[1]
      {"traceId": "{{index .Request.Header "X-B3-Traceid"}}"}~{"traceId": "[]"}
      {{if lt .Response.Latency 0.1}}fast{{end}} {{if not .Revision.PodName}}no pod{{end}}~fast no pod
      {{if gt .Response.Size 0}}body{{end}}{{eq .Request.ContentLength 0}}~true
      """)
  void takesWhatIsWrittenForGo(String template, String expected) {
    use(template);
    var request = FakeRequest.of(observers, loop);
    request.target = "/gr%20eet?a=b+c&a=d&e";
    request.headers.put("x-one", "1");
    request.headers.put("host", "hello");
    request.answered(404, ofMillis(30));

    assertThat(written()).isEqualTo(expected + "\n");
  }

  @Test
  void passesOverParametersThatAreNotEscapedWell() {
    use("{{index .Request.URL.Query \"c\"}}{{.Request.URL.Query.Get \"%\"}} {{.Request.URL.Path}}");
    var request = FakeRequest.of(observers, loop);
    request.target = "/50%?a=%zz&%=b&c=%20d&e;f=1";
    request.answered(200, ofMillis(1));

    assertThat(written()).isEqualTo("[ d] /50%\n");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '~', value = {
      "{{.Request.TLS.Version}}~.Request.TLS.Version is not supported, at line 1, column 3 of the template",
      "{{if true}}{{$.Request.FormValue \"a\"}}{{end}}~.Request.FormValue is not supported, at line 1, column 14 of the template"})
  void namesFieldsThatOnlyGoHas(String template, String problem) {
    assertThatThrownBy(() -> RequestLog.template(template)).hasMessage(problem);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({"false, TLS: <nil> plain <nil>", "true, TLS: {} encrypted {}"})
  @DisplayName("says whether the caller used TLS, as Knative's test of system-internal-tls reads it")
  void saysWhetherTheCallerUsedTls(boolean secure, String expected) {
    use("TLS: {{.Request.TLS}} {{if .Request.TLS}}encrypted{{else}}plain{{end}} {{.Request.TLS}}");
    var request = FakeRequest.of(observers, loop);
    request.secure = secure;
    request.answered(200, ofMillis(1));

    assertThat(written()).isEqualTo(expected + "\n");
  }

  @Test
  void saysNothingOfRequestsOfNoRevision() {
    use("{{.Response.Code}}");
    var request = FakeRequest.lost(observers, loop);
    request.begin();
    request.ended(RequestOutcome.REVISION_UNKNOWN, 404);

    assertThat(written()).isEmpty();
  }

  @Test
  void fillsInKnativesDefault() {
    use(ObservabilityConfig.DEFAULT_TEMPLATE);
    var request = FakeRequest.of(observers, loop);
    request.headers.put("User-Agent", "curl/8 \"<x>\"");
    request.headers.put("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    request.wrote(3);
    request.answered(200, ofMillis(1_500));

    assertThat(written()).isEqualTo("{\"httpRequest\": {\"requestMethod\": \"GET\","
        + " \"requestUrl\": \"/greet?a\\u003Db\", \"requestSize\": \"0\", \"status\": 200,"
        + " \"responseSize\": \"3\", \"userAgent\": \"curl/8 \\\"\\u003Cx\\u003E\\\"\","
        + " \"remoteIp\": \"192.0.2.7:41000\", \"serverIp\": \"\", \"referer\": \"\","
        + " \"latency\": \"1.5s\", \"protocol\": \"HTTP/1.1\"},"
        + " \"traceId\": \"0af7651916cd43dd8448eb211c80319c\"}\n");
  }

  @ParameterizedTest(name = "{0} and {1}: {2}")
  @CsvSource({"00-0af7-b7ad-01, , 0af7", ", 463ac35c9f6413ad, 463ac35c9f6413ad",
      "00-0af7-b7ad-01, 463a, 0af7", ", , ''", "invalid, , ''", "00, , ''"})
  void takesTheTraceFromItsHeaders(String traceparent, String zipkin, String expected) {
    use("{{.TraceID}}");
    var request = FakeRequest.of(observers, loop);
    if (traceparent != null) {
      request.headers.put("traceparent", traceparent);
    }
    if (zipkin != null) {
      request.headers.put("x-b3-traceid", zipkin);
    }
    request.answered(200, ofMillis(1));

    assertThat(written()).isEqualTo(expected + "\n");
  }

  private void use(String template) {
    log.use(Optional.of(template));
  }

  private String written() {
    out.close();
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
