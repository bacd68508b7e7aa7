package dev.activator.proxy.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.http.HeaderFieldList;
import io.netty.handler.codec.http.DefaultHttpHeaders;
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
    assertThat(
        WaitingPagePolicy.isFor(WaitingPagePolicy.Mode.AUTO, method, HeaderFieldList.of(headers)))
        .as(what).isEqualTo(expected);
    assertThat(
        WaitingPagePolicy.isFor(WaitingPagePolicy.Mode.OFF, method, HeaderFieldList.of(headers)))
        .isFalse();
  }

  @Test
  void isForWhatABrowserAccepts() {
    var headers = new DefaultHttpHeaders().add("Sec-Fetch-Mode", "navigate").add("Accept",
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8");

    assertThat(
        WaitingPagePolicy.isFor(WaitingPagePolicy.Mode.AUTO, "GET", HeaderFieldList.of(headers)))
        .isTrue();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      OFF  | auto | AUTO
      AUTO | off  | OFF
      AUTO | yes  | AUTO
      OFF  | yes  | OFF
      """)
  void isSwitchedByARevisionsAnnotation(WaitingPagePolicy.Mode byDefault, String annotation,
      WaitingPagePolicy.Mode expected) {
    assertThat(byDefault.with(Map.of("activator.dev/waiting-page", annotation)))
        .isEqualTo(expected);
    assertThat(byDefault.with(Map.of())).isEqualTo(byDefault);
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
    var status = new WaitingPageStatus(false, "says \"no\"", Duration.ofMillis(1500), null,
        Duration.ofMillis(900));

    assertThat(WaitingPagePolicy.status(status).body()).isEqualTo("{\"ready\":false,"
        + "\"why\":\"says \\\"no\\\"\",\"requestedMillis\":1500,\"listedMillis\":null,"
        + "\"usualMillis\":900}\n");
  }
}
