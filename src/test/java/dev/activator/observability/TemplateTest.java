package dev.activator.observability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.config.TemplateException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TemplateTest {
  private static final Template.Values VALUES = new Template.Values() {
    private final Map<String, String> fields = Map.of("Request.Method", "GET", "Request.UserAgent",
        "a<b>");

    @Override
    public @Nullable String field(String path) {
      return fields.get(path);
    }

    @Override
    public List<String> header(String name) {
      return name.equals("X-Two") ? List.of("1", "2") : List.of();
    }
  };

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '~', quoteCharacter = '^', textBlock = """
      plain } text {~plain } text {
      {{.Request.Method}}!~GET!
      { {{ .Request.Method }} }~{ GET }
      {{js .Request.UserAgent}}~a\\u003Cb\\u003E
      {{.Request.UserAgent | js}}~a\\u003Cb\\u003E
      {{js (.Request.UserAgent)}}~a\\u003Cb\\u003E
      {{.Request.Header.Get "X-Two"}}~1
      {{.Request.Header.Get `X-None`}}.~.
      {{index .Request.Header "X-Two"}}~[1 2]
      {{index .Request.Header "X-None"}}~[]
      {{js (index .Request.Header "X-Two")}}~[1 2]
      a {{- .Request.Method -}} b~aGETb
      a{{/* a comment, even }} or " */}}b~ab
      {{"a}}\\tb"}}~a}}\tb
      """)
  void isFilledInAsGoDoes(String template, String expected) throws Exception {
    assertThat(Template.parse(template).fill(VALUES)).isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @DisplayName("RL-04 names what is not understood, and where")
  @CsvSource(delimiter = '~', quoteCharacter = '^', textBlock = """
      {{}}~missing value for command, at character 3 of the template
      a {{.Request.Method~unclosed action, at character 3 of the template
      {{if .Request.Method}}x{{end}}~{{if}} is not supported, at character 3 of the template
      {{printf "%s" .X}}~function "printf" is not defined, at character 3 of the template
      {{.Request.Method}} {{.X | html}}~a value can only be piped into js, not into 'html', at character 28 of the template
      {{.Request.Header.Get}}~a value is missing, at character 22 of the template
      {{index .Revision "x"}}~only .Request.Header can be indexed, not '.Revision', at character 9 of the template
      {{"abc}}~unclosed action, at character 1 of the template
      {{js (.X}}~the parenthesis has no end, at character 6 of the template
      {{.X .Y}}~'.' is not understood, at character 6 of the template
      {{.}}~'.' names no field, at character 3 of the template
      {{.A..B}}~'.A..B' names no field, at character 3 of the template
      {{$x}}~function "$x" is not defined, at character 3 of the template
      """)
  void namesWhatIsNotUnderstood(String template, String problem) {
    assertThatThrownBy(() -> Template.parse(template)).isInstanceOf(TemplateException.class)
        .hasMessage(problem);
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"0.0, 0", "1.5, 1.5", "0.03, 0.03", "2.0, 2", "0.0001, 0.0001",
      "0.000045, 4.5e-05", "0.00001, 1e-05", "123456789.125, 123456789.125", "1e21, 1e+21"})
  void writesNumbersAsGoDoes(double value, String expected) {
    assertThat(GoText.number(value)).isEqualTo(expected);
  }

  @Test
  void escapesAsGoDoes() {
    assertThat(GoText.js("\\ ' \" < > & =")).isEqualTo(
        "\\\\ \\' \\\" \\u003C \\u003E \\u0026 \\u003D");
    assertThat(GoText.js("grüße\n\u0001\u2028\u00a0😀"))
        .isEqualTo("grüße\\u000A\\u0001\\u2028\\u00A0😀");
  }
}
