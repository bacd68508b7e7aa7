package dev.activator.template;

import static org.assertj.core.api.Assertions.assertThat;

import dev.activator.config.ObservabilityConfig;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GoTemplateParserTest {
  @ParameterizedTest(name = "\"{0}\" is a template")
  @ValueSource(strings = {"", "plain", "{{.Name}}.{{.Namespace}}.{{.Domain}}", "{{- .Name -}}",
      "{{if index .Annotations \"sub\"}}{{index .Annotations \"sub\"}}.{{else}}x{{end}}",
      "{{\"}}\"}}", "{{`{{`}}", "{{/* a comment */}}", "{{/* don't mind }} */}}",
      "{{range .A}}{{with .B}}{{end}}{{end}}",
      "{\"a\": \"{{js .Request.RequestURI}}\"}", "} {", "{{\"a\\\"}}\"}}",
      "{{if eq .X \"a\"}}b{{else if eq .X \"c\"}}d{{end}}", ObservabilityConfig.DEFAULT_TEMPLATE})
  void acceptsTemplates(String text) {
    assertThat(GoTemplateParser.problem(text)).isNull();
  }

  @ParameterizedTest(name = "\"{0}\" is none: {1}")
  @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
      "{{ | unclosed action, at line 1, column 1",
      "a{{.Name | unclosed action, at line 1, column 2",
      "{{}} | missing value for command, at line 1, column 1",
      "x{{  }} | missing value for command, at line 1, column 2",
      "{{-  -}} | missing value for command, at line 1, column 1",
      "{{\"}} | unclosed action, at line 1, column 1",
      "{{end}} | unexpected {{end}}, at line 1, column 3",
      "{{else}} | unexpected {{else}}, at line 1, column 3",
      "{{if .A}} | unexpected EOF: if has no end, at line 1, column 3",
      "{{if .A}}{{range .B}}{{end}} | unexpected EOF: if has no end, at line 1, column 3",
      "{{if .A}}{{else else}}{{end}} | unexpected 'else' behind else, at line 1, column 17",
      "{{if}}{{end}} | missing value for if, at line 1, column 3"})
  void saysWhatIsWrongAndWhere(String text, String problem) {
    assertThat(GoTemplateParser.problem(text)).isEqualTo(problem + " of the template");
  }
}
