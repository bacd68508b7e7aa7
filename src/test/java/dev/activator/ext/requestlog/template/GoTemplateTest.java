package dev.activator.ext.requestlog.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.ext.requestlog.template.GoTemplate.Fields;
import dev.activator.ext.requestlog.template.GoTemplate.Mapping;
import dev.activator.template.GoTemplateException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The expected texts are what Go documents, or prints. */
class GoTemplateTest {
  private static final Mapping MAP = name -> name.equals("X-Two") ? List.of("1", "2") : List.of();

  private static final Map<String, Object> FIELDS = Map.of("Text", "GET", "Agent", "a<b>", "Whole",
      42L, "Real", 1.5, "Empty", "", "Zero", 0L, "List", List.of("a", "b"), "None", List.of(),
      "Map",
      MAP, "Inner.Text", "inner");

  private static final Fields ROOT = (path, arguments) -> {
    if (path.equals("Map.Get") && arguments.size() == 1) {
      return MAP.at((String) arguments.getFirst()).stream().findFirst().orElse("");
    }
    var value = FIELDS.get(path);
    if (value == null) {
      throw new GoTemplateException("there is no ." + path);
    }
    return value;
  };

  private static GoTemplate parse(String text) throws GoTemplateException {
    return GoTemplate.parse(text, Set.of("Inner.TLS"));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '~', quoteCharacter = '^', textBlock = """
      plain } text {~plain } text {
      {{.Text}}!~GET!
      { {{ .Text }} }~{ GET }
      {{.Whole}} {{.Real}} {{true}} {{.List}}~42 1.5 true [a b]
      {{$.Text}} {{.Inner.Text}} {{(.Text)}}~GET inner GET
      {{js .Agent}} {{.Agent | js}} {{js (.Agent)}}~a\\u003Cb\\u003E a\\u003Cb\\u003E a\\u003Cb\\u003E
      {{.Map.Get "X-Two"}}~1
      {{"X-Two" | .Map.Get}}~1
      {{.Map.Get `X-None`}}.~.
      {{index .Map "X-Two"}} {{index .Map "X-None"}}~[1 2] []
      {{index .Map "X-Two" 1}} {{index (index .Map "X-Two") 0}}~2 1
      {{js (index .Map "X-Two")}}~[1 2]
      a {{- .Text -}} b~aGETb
      a {{- /* a comment */ -}} b~ab
      a{{/* a comment, even }} or " */}}b~ab
      {{"a}}\\tb"}}~a}}\tb
      {{1}} {{-3}} {{1.50}}~1 -3 1.5
      """)
  void fillsInValues(String template, String expected) throws Exception {
    assertThat(parse(template).fill(ROOT)).isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '~', quoteCharacter = '^', textBlock = """
      {{if .Text}}yes{{end}}~yes
      {{if .Empty}}yes{{end}}.~.
      {{if .Empty}}yes{{else}}no{{end}}~no
      {{if .Empty}}a{{else if .Zero}}b{{else if true}}c{{else}}d{{end}}~c
      {{if .Empty}}a{{else if .Zero}}b{{else}}d{{end}}~d
      {{if true}}{{if .Zero}}a{{else}}b{{end}}c{{end}}d~bcd
      {{if and .Text .Whole}}a{{end}}{{if or .Empty .Zero}}b{{end}}{{if not .None}}c{{end}}~ac
      {{and .Text .Zero .Whole}} {{and .Text .Whole}} {{or .Empty .Text .Whole}}~0 42 GET
      {{or .Text .NoSuchField}} {{and .Empty .NoSuchField}}.~GET .
      {{not true}} {{not 0}} {{not .Map}}~false true false
      {{eq .Text "GET"}} {{eq .Text "PUT" "GET"}} {{ne .Text "GET"}} {{eq .Whole 42}}~true true false true
      {{lt .Whole 50}} {{le .Whole 42}} {{gt .Real 0.5}} {{ge .Whole 43}} {{lt "a" "b"}}~true true true false true
      {{if and (eq .Text "GET") (ge .Whole 40)}}both{{end}}~both
      {{if ge .Whole 400}}error{{else if ge .Whole 40}}forty{{end}}~forty
      {{/* c */}}{{- if true -}} x {{- end -}} .~x.
      """)
  void choosesByConditions(String template, String expected) throws Exception {
    assertThat(parse(template).fill(ROOT)).isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @DisplayName("names what is not supported, and where")
  @CsvSource(delimiter = '~', quoteCharacter = '^', textBlock = """
      {{}}~missing value for command, at line 1, column 1
      a {{.Text~unclosed action, at line 1, column 3
      {{"abc}}~unclosed action, at line 1, column 1
      {{if .Text}}x~unexpected EOF: if has no end, at line 1, column 3
      x{{end}}~unexpected {{end}}, at line 1, column 4
      {{if .Text}}{{else}}{{else}}{{end}}~unexpected {{else}}, at line 1, column 23
      {{define "x"}}{{end}}~{{define}} is not supported; there are if, else and end, at line 1, column 9
      {{range .List}}{{.}}{{end}}~{{range}} is not supported; there are if, else and end, at line 1, column 8
      {{with .Text}}{{.}}{{end}}~{{with}} is not supported; there are if, else and end, at line 1, column 7
      {{template "x"}}~'template' is not supported; the functions are and, or, not, eq, ne, lt, le, gt, ge, index and js, at line 1, column 3
      {{$x := .Text}}~'$x' is not supported; a value is named like .Request.Method, at line 1, column 3
      {{.}}~'.' is not supported; a value is named like .Request.Method, at line 1, column 3
      {{.Text | slice}}~'slice' is not supported; the functions are and, or, not, eq, ne, lt, le, gt, ge, index and js, at line 1, column 11
      {{js nil}}~'nil' is not supported; the functions are and, or, not, eq, ne, lt, le, gt, ge, index and js, at line 1, column 6
      {{js}}~wrong number of arguments for js: it has 0, but needs 1, at line 1, column 3
      {{eq .Text}}~wrong number of arguments for eq: it has 1, but needs at least 2, at line 1, column 3
      {{index .Map "a" 1 2}}~wrong number of arguments for index: it has 4, but needs at most 3, at line 1, column 3
      {{eq 1 not .Text}}~a call of not as an argument needs parentheses, at line 1, column 8
      {{printf "%d" 1}}~'printf' is not supported; the functions are and, or, not, eq, ne, lt, le, gt, ge, index and js, at line 1, column 3
      {{js (.X}}~the parenthesis has no end, at line 1, column 6
      {{.Text | }}~a value is missing, at line 1, column 11
      {{"a" "b"}}~can't give an argument to "a" "b", at line 1, column 3
      {{.A..B}}~'.A..B' is not supported; a value is named like .Request.Method, at line 1, column 3
      {{(.Inner).Text}}~can't give an argument to (.Inner).Text, at line 1, column 3
      {{0x1F}}~'0x1F' is not supported; a number is digits, with a point among them for a fraction, at line 1, column 3
      {{"\\x"}}~\\x is not supported, at line 1, column 5
      {{.Text ; .Text}}~';' is not supported, at line 1, column 9
      {{.Inner.TLS.Version}}~.Inner.TLS is not supported, at line 1, column 3
      """)
  void refusesWhatIsNotSupported(String template, String problem) {
    assertThatThrownBy(() -> parse(template)).isInstanceOf(GoTemplateException.class)
        .hasMessage(problem + " of the template");
  }

  @Test
  void namesTheLine() {
    assertThatThrownBy(() -> parse("a\nb {{.Text}}\n  {{call .Text}}"))
        .hasMessageContaining("'call'")
        .hasMessageEndingWith("at line 3, column 5 of the template");
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '~', quoteCharacter = '^', textBlock = """
      {{.NoSuchField}}~there is no .NoSuchField
      {{.Map}}~a map cannot be printed, only its value for a name
      {{eq .Text 1}}~incompatible types for comparison
      {{lt .Real 1}}~incompatible types for comparison
      {{index .List 2}}~there is nothing at the index 2
      {{index .Text "a"}}~there is nothing at the index a
      """)
  void failsWhenItIsFilledIn(String template, String problem) throws Exception {
    var parsed = parse(template);

    assertThatThrownBy(() -> parsed.fill(ROOT)).isInstanceOf(GoTemplateException.class)
        .hasMessage(problem);
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"0.0, 0", "1.5, 1.5", "0.03, 0.03", "2.0, 2", "0.0001, 0.0001",
      "0.000045, 4.5e-05", "0.00001, 1e-05", "123456.125, 123456.125",
      "1234567.5, 1.2345675e+06", "123456789.125, 1.23456789125e+08", "1e21, 1e+21"})
  void writesNumbersAsGoDoes(double value, String expected) {
    assertThat(TemplateFunctions.number(value)).isEqualTo(expected);
  }

  @Test
  void escapesAsGoDoes() throws Exception {
    assertThat(filledIn("{{js .}}", "\\ ' \" < > & =")).isEqualTo(
        "\\\\ \\' \\\" \\u003C \\u003E \\u0026 \\u003D");
    assertThat(filledIn("{{js .}}", "grüße\n\u0001\u2028\u00a0😀"))
        .isEqualTo("grüße\\u000A\\u0001\\u2028\\u00A0😀");
  }

  private static String filledIn(String template, String text) throws GoTemplateException {
    return parse(template.replace(" .}", " .Text}")).fill((_, _) -> text);
  }
}
