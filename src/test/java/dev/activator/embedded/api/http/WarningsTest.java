package dev.activator.embedded.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.http.ApiResponseWriter.Warnings;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class WarningsTest {
  @Test
  void areQuoted() {
    assertThat(Warnings.headers(List.of("a \"b\" \\ c\r\nX: d é", "a \"b\" \\ c\r\nX: d é")))
        .containsExactly("299 - \"a \\\"b\\\" \\\\ c??X: d ?\"");
  }

  @Test
  void areShortenedAndThenLeftOutIfTogetherTooLong() {
    var texts = IntStream.range(0, 100).mapToObj(i -> i + "x".repeat(300)).toList();

    assertThat(Warnings.headers(texts)).hasSize(16).allMatch(text -> text.length() == 264);
    assertThat(Warnings.headers(texts.subList(0, 3))).allMatch(text -> text.length() == 309);
    assertThat(Warnings.headers(Collections.emptyList())).isEmpty();
  }
}
