package dev.activator.embedded.api.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.embedded.api.schema.ProtobufSchemaValidator.Base64Text;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class Base64TextTest {
  /** The positions are those of Go's decoder. */
  @ParameterizedTest
  @CsvSource({"'', -1", "YWJj, -1", "YWI=, -1", "YQ==, -1", "'YWJj\r\nYQ=\n=\n', -1",
      "pass word!, 4",
      "YWJ, 0", "YWJjY, 4", "YWJj!, 4", "YQ=, 3", "YQ==YQ==, 4", "=, 0", "Y=, 1", "YWJj=, 4",
      "YQ===, 4"})
  void namesTheByteThatIsWrong(String text, int at) {
    assertThat(Base64Text.malformedAt(text.translateEscapes())).isEqualTo(at);
  }
}
