package dev.activator.ext.tcp.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.ext.tcp.policy.ProxySignature.Match;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProxySignatureTest {
  @ParameterizedTest
  @CsvSource(quoteCharacter = '"', textBlock = """
      "",                                   PART
      P,                                    PART
      PROXY,                                PART
      "PROXY ",                             WHOLE
      "PROXY TCP4 1.2.3.4",                 WHOLE
      PROXY\\t,                             NONE
      PING\\r\\n,                           NONE
      proxy,                                NONE
      \\r\\n,                               PART
      \\r\\n\\r\\n\\0\\r\\nQUIT,            PART
      \\r\\n\\r\\n\\0\\r\\nQUIT\\n,         WHOLE
      \\r\\n\\r\\n\\0\\r\\nQUIT\\n\\x21,    WHOLE
      \\r\\n\\r\\nGET,                      NONE
      \\0\\0\\0\\b,                         NONE
      """)
  void isRecognisedByItsFirstBytes(String text, Match expected) {
    var bytes = text.replace("\\r", "\r").replace("\\n", "\n").replace("\\t", "\t")
        .replace("\\0", "\0").replace("\\b", "\b").getBytes(StandardCharsets.ISO_8859_1);
    var signature = new ProxySignature();
    for (byte next : bytes) {
      signature.add(next);
    }
    assertThat(signature.match()).isEqualTo(expected);
  }
}
