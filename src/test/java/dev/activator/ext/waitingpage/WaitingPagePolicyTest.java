package dev.activator.ext.waitingpage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.revision.RevisionId;
import dev.activator.revision.Revision;
import dev.activator.proxy.policy.DeadlineCalculator;
import dev.activator.proxy.exchange.Seams.WaitPolicy;
import dev.activator.config.WaitingPageMode;
import dev.activator.proxy.policy.StartStatus;
import dev.activator.http.HeaderFieldList;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WaitingPagePolicyTest {
  @ParameterizedTest(name = "{0}: {1} {2}")
  @CsvSource(delimiter = '|', textBlock = """
      a navigation               | GET  | Sec-Fetch-Mode: navigate, Accept: text/html                    | true
      a HEAD                     | HEAD | Sec-Fetch-Mode: navigate, Accept: text/html                    | true
      a HEAD with an empty body  | HEAD | Sec-Fetch-Mode: navigate, Accept: text/html, Content-Length: 0 | true
      a form                     | POST | Sec-Fetch-Mode: navigate, Accept: text/html                    | false
      a body                     | GET  | Sec-Fetch-Mode: navigate, Accept: text/html, Content-Length: 3 | false
      a chunked body             | GET  | Sec-Fetch-Mode: navigate, Accept: text/html, Transfer-Encoding: chunked | false
      a script's request         | GET  | Sec-Fetch-Mode: cors, Accept: text/html                        | false
      a WebSocket                | GET  | Sec-Fetch-Mode: navigate, Accept: text/html, Upgrade: websocket | false
      a prefetch                 | GET  | Sec-Fetch-Mode: navigate, Accept: text/html, Sec-Purpose: prefetch | false
      JSON                       | GET  | Sec-Fetch-Mode: navigate, Accept: application/json             | false
      curl                       | GET  | Accept: */*                                                    | false
      an old browser             | GET  | Accept: text/html                                              | false
      """)
  void isForNavigationsThatCanBeRepeated(String what, String method, String fields,
      boolean expected) {
    var headers = new DefaultHttpHeaders();
    for (var field : fields.split(", ")) {
      headers.add(field.substring(0, field.indexOf(':')),
          field.substring(field.indexOf(':') + 2));
    }
    assertThat(afterNanos(WaitingPageMode.AUTO, method, headers)).as(what)
        .isEqualTo(expected ? WaitingPagePolicy.DELAY.toNanos() : DeadlineCalculator.NONE);
    assertThat(afterNanos(WaitingPageMode.OFF, method, headers)).as(what)
        .isEqualTo(DeadlineCalculator.NONE);
  }

  private static long afterNanos(WaitingPageMode mode, String method, HttpHeaders headers) {
    return new WaitingPages(mode, () -> WaitingPageTemplate.DEFAULT)
        .afterNanos(new WaitPolicy.Request(Revision.of(new RevisionId("ns", "rev"), 0), method,
            HeaderFieldList.of(headers), true));
  }

  @Test
  void isForWhatABrowserAccepts() {
    var headers = new DefaultHttpHeaders().add("Sec-Fetch-Mode", "navigate").add("Accept",
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8");

    assertThat(WaitingPagePolicy.isNavigation("GET", HeaderFieldList.of(headers))).isTrue();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      OFF  | auto | AUTO
      AUTO | off  | OFF
      AUTO | yes  | AUTO
      OFF  | yes  | OFF
      """)
  void isSwitchedByARevisionsAnnotation(WaitingPageMode byDefault, String annotation,
      WaitingPageMode expected) {
    assertThat(WaitingPagePolicy.isOn(byDefault, Map.of("activator.dev/waiting-page", annotation)))
        .isEqualTo(expected == WaitingPageMode.AUTO);
    assertThat(WaitingPagePolicy.isOn(byDefault, Map.of()))
        .isEqualTo(byDefault == WaitingPageMode.AUTO);
  }

  @Test
  void isNeverStored() {
    var page = WaitingPagePolicy.page("<p>", "default-src 'none'", 3);

    assertThat(page.status()).isEqualTo(503);
    assertThat(page.headers()).containsEntry("Cache-Control", "no-store")
        .containsEntry("Retry-After", "3")
        .containsEntry("Content-Security-Policy", "default-src 'none'");
  }

  @Test
  void requestsTheStatus() {
    var status = new StartStatus(false, "says \"no\"", true, Duration.ofMillis(1500), null,
        Duration.ofMillis(900));

    assertThat(WaitingPagePolicy.status(status).body()).isEqualTo("{\"ready\":false,"
        + "\"why\":\"says \\\"no\\\"\",\"failed\":true,\"requestedMillis\":1500,\"listedMillis\":null,"
        + "\"usualMillis\":900}\n");
  }
}
