package dev.activator.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HeaderNameCacheTest {
  private static @Nullable String of(String text) {
    var bytes = ("<" + text + ">").getBytes(StandardCharsets.ISO_8859_1);
    var name = HeaderNameCache.of(bytes, 1, text.length());
    return name == null ? null : name.toString();
  }

  private static String small(String text) {
    return HeaderNameCache.lowerCase(text).toString();
  }

  @Test
  void findsEachNameAsItIsWrittenAndInSmallLetters() {
    for (var name : HeaderNameCache.all()) {
      assertThat(of(name)).isEqualTo(name);
      assertThat(of(name.toLowerCase(Locale.ROOT))).isEqualTo(name.toLowerCase(Locale.ROOT));
    }
  }

  @Test
  void knowsNoOtherSpelling() {
    assertThat(of("HOST")).isNull();
    assertThat(of("Content-length")).isNull();
    assertThat(of("Content-Lengt")).isNull();
    assertThat(of("Xontent-Length")).isNull();
    assertThat(of("\u00ff\u00fe\u00fd")).isNull();
    assertThat(of("")).isNull();
  }

  @Test
  void writesAnyNameInSmallLetters() {
    assertThat(small("X-Forwarded-For")).isEqualTo("x-forwarded-for");
    assertThat(small("x-forwarded-for")).isEqualTo("x-forwarded-for");
    assertThat(small("X-My-Own")).isEqualTo("x-my-own");
    assertThat(small("")).isEmpty();
  }
}
