package dev.activator.observability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.activator.config.TemplateException;
import dev.activator.observability.Template.Mapping;
import dev.activator.observability.Template.Struct;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What templates are filled in with is what Go documents, or prints. */
class TemplateTest {
  private static final Mapping MAP = new Mapping() {
    private final SortedMap<String, List<String>> all = new TreeMap<>(
        Map.of("X-Two", List.of("1", "2"), "Accept", List.of("*/*")));

    @Override
    public SortedMap<String, List<String>> all() {
      return all;
    }

    @Override
    public List<String> at(String key) {
      return all.getOrDefault(key, List.of());
    }

    @Override
    public Object member(String name, List<@Nullable Object> arguments) throws TemplateException {
      if (name.equals("Get") && arguments.size() == 1) {
        return at((String) arguments.getFirst()).stream().findFirst().orElse("");
      }
      throw new TemplateException("wrong");
    }
  };

  private static final Map<String, Object> FIELDS = Map.of("Text", "GET", "Agent", "a<b>", "Whole",
      42L, "Real", 1.5, "True", true, "Empty", "", "Zero", 0L, "List", List.of("a", "b"), "None",
      List.of(), "Map", MAP);

  private static final Struct ROOT = (name, _) -> name.equals("Inner")
      ? (Struct) (inner, _) -> FIELDS.get(inner)
      : field(name);

  private static Object field(String name) throws TemplateException {
    var value = FIELDS.get(name);
    if (value == null) {
      throw new TemplateException("there is no ." + name);
    }
    return value;
  }

  private static Template parse(String text) throws TemplateException {
    return Template.parse(text, Set.of("Inner.TLS"));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '~', quoteCharacter = '^', textBlock = """
      plain } text {~plain } text {
      {{.Text}}!~GET!
      { {{ .Text }} }~{ GET }
      {{.Whole}} {{.Real}} {{.True}} {{.List}}~42 1.5 true [a b]
      {{.Map}}~map[Accept:[*/*] X-Two:[1 2]]
      {{$.Text}} {{$.Inner.Text}} {{(.Inner).Text}}~GET GET GET
      {{js .Agent}} {{.Agent | js}} {{js (.Agent)}}~a\\u003Cb\\u003E a\\u003Cb\\u003E a\\u003Cb\\u003E
      {{html .Agent}} {{urlquery .Agent "/ *"}}~a&lt;b&gt; a%3Cb%3E%2F+%2A
      {{.Map.Get "X-Two"}}~1
      {{"X-Two" | .Map.Get}}~1
      {{.Map.Get `X-None`}}.~.
      {{index .Map "X-Two"}} {{index .Map "X-None"}}~[1 2] []
      {{index .Map "X-Two" 1}} {{index (index .Map "X-Two") 0}}~2 1
      {{js (index .Map "X-Two")}}~[1 2]
      {{len .Text}} {{len "grüße"}} {{len .List}} {{len .Map}} {{.Map | len}}~3 7 2 2 2
      a {{- .Text -}} b~aGETb
      a {{- /* a comment */ -}} b~ab
      a{{/* a comment, even }} or " */}}b~ab
      {{"a}}\\tb"}}~a}}\tb
      {{1}} {{-3}} {{0x1F}} {{1_000}} {{1.50}} {{1e3}} {{'a'}} {{true}}~1 -3 31 1000 1.5 1000 97 true
      """)
  void isFilledInAsGoDoes(String template, String expected) throws Exception {
    assertThat(parse(template).fill(ROOT)).isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '~', quoteCharacter = '^', textBlock = """
      {{if .Text}}yes{{end}}~yes
      {{if .Empty}}yes{{end}}.~.
      {{if .Empty}}yes{{else}}no{{end}}~no
      {{if .Empty}}a{{else if .Zero}}b{{else if .True}}c{{else}}d{{end}}~c
      {{if .Empty}}a{{else if .Zero}}b{{else}}d{{end}}~d
      {{if .True}}{{if .Zero}}a{{else}}b{{end}}c{{end}}d~bcd
      {{with .Inner}}{{.Text}}{{$.Whole}}{{end}}{{.Real}}~GET421.5
      {{with .Empty}}a{{else}}{{.Text}}{{end}}~GET
      {{with .Empty}}a{{else with .Text}}{{.}}{{end}}~GET
      {{range .List}}<{{.}}>{{end}}~<a><b>
      {{range .None}}<{{.}}>{{else}}none{{end}}~none
      {{range .Map}}{{.}}{{end}}~[*/*][1 2]
      {{range index .Map "X-Two"}}{{.}},{{end}}~1,2,
      {{if and .Text .Whole}}a{{end}}{{if or .Empty .Zero}}b{{end}}{{if not .None}}c{{end}}~ac
      {{and .Text .Zero .Whole}} {{and .Text .Whole}} {{or .Empty .Text .Whole}}~0 42 GET
      {{or .Text .NoSuchField}} {{and .Empty .NoSuchField}}.~GET .
      {{not .True}} {{not 0}} {{not .Map}}~false true false
      {{eq .Text "GET"}} {{eq .Text "PUT" "GET"}} {{ne .Text "GET"}} {{eq .Whole 42}}~true true false true
      {{lt .Whole 50}} {{le .Whole 42}} {{gt .Real 0.5}} {{ge .Whole 43}} {{lt "a" "b"}}~true true true false true
      {{if and (eq .Text "GET") (ge .Whole 40)}}both{{end}}~both
      {{if ge .Whole 400}}error{{else if ge .Whole 40}}forty{{end}}~forty
      {{/* c */}}{{- if .True -}} x {{- end -}} .~x.
      """)
  void decidesAsGoDoes(String template, String expected) throws Exception {
    assertThat(parse(template).fill(ROOT)).isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '~', quoteCharacter = '^', textBlock = """
      "%s" "hi"~hi
      "|%5s|%-5s|%.1s|%5.1s" "hi" "hi" "hi" "hi"~|   hi|hi   |h|    h
      "|%05s" "hi"~|   hi
      "%q %+q %#q" "a\\"ü\\n" "ü" "a"~"a\\"ü\\n" "\\u00fc" `a`
      "%x %X % x %#x" "hi" "hi" "hi" "hi"~6869 6869 68 69 0x6869
      "%d %5d|%-5d|%05d|%+d|% d|%.3d" 42 42 42 42 42 42 42~42    42|42   |00042|+42| 42|042
      "%05d %d" -42 -42~-0042 -42
      "%x %X %#x %o %b %c %q %U" 255 255 255 8 5 65 65 65~ff FF 0xff 10 101 A 'A' U+0041
      "%f %.2f %8.2f|%-8.2f|%08.2f %.0f" 1.5 1.5 1.5 1.5 1.5 1.5~1.500000 1.50     1.50|1.50    |00001.50 2
      "%.2f %.1f %.3f" -0.015 0.25 1234.5~-0.01 0.2 1234.500
      "%e %.2e %E" 1500.0 1500.0 0.00015~1.500000e+03 1.50e+03 1.500000E-04
      "%g %g %.3g %g" 1.5 0.00001 1234.5 1234567.0~1.5 1e-05 1.23e+03 1.234567e+06
      "%v %v %v %v" "a" 1 1.5 true~a 1 1.5 true
      "%t %5t|%v" true false .List~true false|[a b]
      "%q %x %5s" .List .List .List~["a" "b"] [61 62] [    a     b]
      "%T %T %T %T" "a" 1 1.5 true~string int float64 bool
      "100%% %s" "done"~100% done
      "%d %s %t %f" "a" 1 "x" 1~%!d(string=a) %!s(int=1) %!t(string=x) %!f(int=1)
      "%s %s" "a"~a %!s(MISSING)
      "a" "b" 1~a%!(EXTRA string=b, int=1)
      "%z" 1~%!z(int=1)
      "%😀" nil~%!😀(<nil>)
      "50%"~50%!(NOVERB)
      "%v" nil~<nil>
      """)
  void formatsAsGoDoes(String arguments, String expected) throws Exception {
    assertThat(parse("{{printf " + arguments + "}}").fill(ROOT)).isEqualTo(expected);
  }

  @Test
  void printsAsGoDoes() throws Exception {
    assertThat(parse("{{print 1 2 \"a\" \"b\" 3 true}}|{{println 1 \"a\"}}|"
        + "{{.Whole | printf \"%s=%d\" \"n\"}}").fill(ROOT)).isEqualTo("1 2ab3 true|1 a\n|n=42");
  }

  @ParameterizedTest(name = "{0}: {1}")
  @DisplayName("RL-04 names what is not understood, and where")
  @CsvSource(delimiter = '~', quoteCharacter = '^', textBlock = """
      {{}}~missing value for command, at line 1, column 1
      a {{.Text~unclosed action, at line 1, column 3
      {{"abc}}~unclosed action, at line 1, column 1
      {{if .Text}}x~unexpected EOF: if has no end, at line 1, column 3
      x{{end}}~unexpected {{end}}, at line 1, column 4
      {{if .Text}}{{else}}{{else}}{{end}}~unexpected {{else}}, at line 1, column 23
      {{define "x"}}{{end}}~{{define}} is not supported; there are if, with, range, else and end, at line 1, column 9
      {{template "x"}}~{{template}} is not supported; there are if, with, range, else and end, at line 1, column 3
      {{range .List}}{{break}}{{end}}~{{break}} is not supported; there are if, with, range, else and end, at line 1, column 18
      {{$x := .Text}}~variables such as $x are not supported; $ alone is what the template is filled in with, at line 1, column 3
      {{with $x := .Text}}{{end}}~variables such as $x are not supported; $ alone is what the template is filled in with, at line 1, column 8
      {{.Text | slice}}~function "slice" is not defined; there are and, or, not, eq, ne, lt, le, gt, ge, len, index, print, printf, println, html, js and urlquery, at line 1, column 11
      {{len}}~wrong number of arguments for len: it has 0, but needs 1, at line 1, column 3
      {{eq .Text}}~wrong number of arguments for eq: it has 1, but needs at least 2, at line 1, column 3
      {{printf "%d" len .Text}}~a call of len as an argument needs parentheses, at line 1, column 15
      {{js (.X}}~the parenthesis has no end, at line 1, column 6
      {{.Text | }}~a value is missing, at line 1, column 11
      {{"a" "b"}}~can't give an argument to "a" "b", at line 1, column 3
      {{.A..B}}~'.A.' names no field, at line 1, column 3
      {{1x}}~bad number syntax, at line 1, column 3
      {{lt 1.0 1e999}}~the number is too large, at line 1, column 10
      {{.Text ; .Text}}~';' is not understood, at line 1, column 9
      {{.Inner.TLS.Version}}~.Inner.TLS is not supported, at line 1, column 3
      """)
  void namesWhatIsNotUnderstood(String template, String problem) {
    assertThatThrownBy(() -> parse(template)).isInstanceOf(TemplateException.class)
        .hasMessage(problem + " of the template");
  }

  @Test
  void namesTheLine() {
    assertThatThrownBy(() -> parse("a\nb {{.Text}}\n  {{call .Text}}"))
        .hasMessageContaining("\"call\"")
        .hasMessageEndingWith("at line 3, column 5 of the template");
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(delimiter = '~', quoteCharacter = '^', textBlock = """
      {{.NoSuchField}}~there is no .NoSuchField
      {{.Text.Length}}~there is no .Length
      {{.Inner}}~this cannot be printed, only its fields
      {{eq .Text 1}}~incompatible types for comparison
      {{lt .Real 1}}~incompatible types for comparison
      {{index .List 2}}~index out of range: 2
      {{len 3}}~len of what has no length
      {{printf 1}}~the first argument of printf is not a string
      """)
  void failsWhenFilledInWhereGoDoes(String template, String problem) throws Exception {
    var parsed = parse(template);

    assertThatThrownBy(() -> parsed.fill(ROOT)).isInstanceOf(TemplateException.class)
        .hasMessage(problem);
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"0.0, 0", "1.5, 1.5", "0.03, 0.03", "2.0, 2", "0.0001, 0.0001",
      "0.000045, 4.5e-05", "0.00001, 1e-05", "123456.125, 123456.125",
      "1234567.5, 1.2345675e+06", "123456789.125, 1.23456789125e+08", "1e21, 1e+21"})
  void writesNumbersAsGoDoes(double value, String expected) {
    assertThat(GoText.number(value)).isEqualTo(expected);
  }

  @Test
  void escapesAsGoDoes() {
    assertThat(GoText.js("\\ ' \" < > & =")).isEqualTo(
        "\\\\ \\' \\\" \\u003C \\u003E \\u0026 \\u003D");
    assertThat(GoText.js("grüße\n\u0001\u2028\u00a0😀"))
        .isEqualTo("grüße\\u000A\\u0001\\u2028\\u00A0😀");
    assertThat(GoText.html("<a href='\"&'>")).isEqualTo("&lt;a href=&#39;&#34;&amp;&#39;&gt;");
    assertThat(GoText.quoted("\u0007\u0001\u2028é", '"', false))
        .isEqualTo("\"\\a\\x01\\u2028é\"");
  }
}
