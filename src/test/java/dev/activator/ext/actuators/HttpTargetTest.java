package dev.activator.ext.actuators;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.config.ConfigValue;
import dev.activator.ext.actuators.HttpTarget.SecretHeader;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HttpTargetTest {
  private static HttpTarget read(String fields) {
    return HttpTarget.read(ConfigValue.parse("spec.wake.http", "{" + fields + "}"));
  }

  @Test
  void readsBothCalls() {
    var target = read("start: {url: 'https://a/start?token=secret', headersFrom: [{name: X-Key,"
        + " secretKeyRef: {name: s, key: k}}]}, stop: {url: 'https://a/stop', method: DELETE}");

    assertThat(target.start().method()).isEqualTo("POST");
    assertThat(target.start().headers()).containsExactly(new SecretHeader("X-Key", "s", "k"));
    assertThat(target.stop().method()).isEqualTo("DELETE");
    assertThat(target.timeout()).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void itsTextsHaveNoQuery() {
    var target = read("start: {url: 'https://a/start?token=secret'}, stop: {url: 'https://a/'}");

    assertThat(target).hasToString("URL https://a/start");
    assertThat(target.start()).hasToString("POST https://a/start");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', value = {
      "url: 1 | spec.wake.http.start.url must be a URL",
      "url: 'https://user:pass@a/' | spec.wake.http.start.url must be an http or https URL of at"
          + " most 1000 characters in ASCII, without user, password and fragment",
      "url: 'https://a/', method: get | spec.wake.http.start.method must be GET, POST, PUT",
      "url: 'https://a/', headerFrom: [] | spec.wake.http.start has no field headerFrom; the nearest"
          + " is headersFrom",
      "url: 'https://a/', headersFrom: [{name: Host, secretKeyRef: {name: s, key: k}}] |"
          + " spec.wake.http.start.headersFrom[0].name may not be Host",
      "url: 'https://a/', headersFrom: [{name: 'A b', secretKeyRef: {name: s, key: k}}] |"
          + " spec.wake.http.start.headersFrom[0].name must be the name of a header",
      "url: 'https://a/', headersFrom: [{name: A, secretKeyRef: {name: s/../b, key: k}}] |"
          + " spec.wake.http.start.headersFrom[0].secretKeyRef.name must be the name of a Secret",
      "url: 'https://a/', headersFrom: [{name: A, value: b}] |"
          + " spec.wake.http.start.headersFrom[0] has no field value"})
  void saysWhatIsInvalid(String start, String message) {
    assertThatThrownBy(() -> read("start: {" + start + "}, stop: {url: 'https://a/'}"))
        .isInstanceOf(IllegalArgumentException.class).hasMessageStartingWith(message)
        .hasMessageNotContaining("pass@");
  }

  @Test
  void needsAStop() {
    assertThatThrownBy(() -> read("start: {url: 'https://a/'}"))
        .hasMessage("spec.wake.http.stop must be an object");
    assertThatThrownBy(() -> read("start: {url: 'https://a/'}, stop: {url: 'https://a/'},"
        + " timeoutSeconds: 60"))
        .hasMessageStartingWith(
            "spec.wake.http.timeoutSeconds must be a whole number from 1 to 10");
  }
}
