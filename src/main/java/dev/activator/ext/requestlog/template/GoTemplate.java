package dev.activator.ext.requestlog.template;

import dev.activator.template.GoTemplateException;
import dev.activator.template.GoTemplateParser;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A parsed template in the language of Go's text/template, as the request log's format uses it.
 * Values are {@link String}, {@link Long}, {@link Double}, {@link Boolean}, a list of texts,
 * {@link Mapping} or {@link Pointer}.
 *
 * <p><b>Errors.</b> Parts of Go's language that are not supported are refused with their position.
 * As in Go, an unknown field is an error only when the template is filled in.
 *
 * <p><b>Source.</b> Go's {@code text/template}: fields, {@code if} and {@code else}, and the
 * functions of {@code TemplateFunctions}.
 */
public final class GoTemplate {
  /** The values that a template is filled in with. */
  @FunctionalInterface
  public interface Fields {
    /**
     * @param path names with dots between, such as {@code Request.Header.Get}
     * @param arguments the arguments of a method; empty for a field
     * @throws GoTemplateException if there is no such field
     */
    Object value(String path, List<Object> arguments) throws GoTemplateException;
  }

  /** A map from names to lists of texts, such as headers. The list of an unknown name is empty. */
  @FunctionalInterface
  public interface Mapping {
    List<String> at(String name);
  }

  /** A Go pointer to a struct whose fields are not known. It prints as in Go. */
  public record Pointer(boolean isNil) {
    @Override
    public String toString() {
      return isNil ? "<nil>" : "{}";
    }
  }

  @FunctionalInterface
  interface Expression {
    Object value(Fields fields) throws GoTemplateException;
  }

  @FunctionalInterface
  private interface Part {
    void write(Fields fields, StringBuilder to) throws GoTemplateException;
  }

  private final List<Part> parts;

  private GoTemplate(List<Part> parts) {
    this.parts = parts;
  }

  /** @param absent the paths of fields that exist in Go but are not supported here */
  public static GoTemplate parse(String text, Set<String> absent) throws GoTemplateException {
    return new GoTemplate(parts(GoTemplateParser.parse(text), text, absent));
  }

  public String fill(Fields fields) throws GoTemplateException {
    var filled = new StringBuilder(512);
    write(parts, fields, filled);
    return filled.toString();
  }

  private static void write(List<Part> parts, Fields fields, StringBuilder to)
      throws GoTemplateException {
    for (var part : parts) {
      part.write(fields, to);
    }
  }

  private static List<Part> parts(List<GoTemplateParser.Node> nodes, String text,
      Set<String> absent) throws GoTemplateException {
    var parts = new ArrayList<Part>();
    for (var node : nodes) {
      parts.add(switch (node) {
        case GoTemplateParser.Node.Text(var literal) -> (_, to) -> to.append(literal);
        case GoTemplateParser.Node.Action action -> {
          var value = new Parser(text, action, absent).parse();
          yield (fields, to) -> to.append(TemplateFunctions.print(value.value(fields)));
        }
        case GoTemplateParser.Node.Block block -> {
          if (!block.word().equals("if")) {
            throw GoTemplateException.at(
                "{{" + block.word() + "}} is not supported; there are if, else and end", text,
                block.argument().at());
          }
          var condition = new Parser(text, block.argument(), absent).parse();
          var then = parts(block.body(), text, absent);
          var otherwise = parts(block.otherwise(), text, absent);
          yield (fields, to) -> write(
              TemplateFunctions.isTrue(condition.value(fields)) ? then : otherwise, fields, to);
        }
      });
    }
    return List.copyOf(parts);
  }

  /** Parses one action: a field, a literal, a call, or a pipeline of them. */
  private static final class Parser {
    private final String template;
    private final String text;
    private final int offset;
    private final Set<String> absent;
    private int at;

    Parser(String template, GoTemplateParser.Node.Action action, Set<String> absent) {
      this.template = template;
      this.text = action.inside();
      this.offset = action.at();
      this.absent = absent;
    }

    Expression parse() throws GoTemplateException {
      var all = pipeline();
      if (peek() != 0) {
        throw error("'" + peek() + "' is not supported", at);
      }
      return all;
    }

    private Expression pipeline() throws GoTemplateException {
      var value = command(null);
      while (peek() == '|') {
        at++;
        value = command(value);
      }
      return value;
    }

    /**
     * @param piped the result of the command before, which becomes the last argument; null if there
     *     is none
     */
    private Expression command(@Nullable Expression piped) throws GoTemplateException {
      char next = peek();
      int from = at;
      if (next == '.' || next == '$') {
        return field(path(), arguments(piped));
      }
      if (!Character.isLetter(next) || isFlag()) {
        var literal = operand();
        if (!arguments(piped).isEmpty()) {
          throw error("can't give an argument to " + text.substring(from, at).strip(), from);
        }
        return literal;
      }
      var name = word();
      var arguments = arguments(piped);
      var problem = TemplateFunctions.problem(name, arguments.size());
      if (problem != null) {
        throw error(problem, from);
      }
      return TemplateFunctions.call(name, arguments);
    }

    private List<Expression> arguments(@Nullable Expression piped) throws GoTemplateException {
      var arguments = new ArrayList<Expression>();
      for (char next = peek(); next != 0 && next != '|' && next != ')'; next = peek()) {
        arguments.add(operand());
      }
      if (piped != null) {
        arguments.add(piped);
      }
      return List.copyOf(arguments);
    }

    private Expression operand() throws GoTemplateException {
      char next = peek();
      int from = at;
      if (next == '.' || next == '$') {
        return field(path(), List.of());
      }
      if (next == '(') {
        at++;
        var inner = pipeline();
        if (peek() != ')') {
          throw error("the parenthesis has no end", from);
        }
        at++;
        return inner;
      }
      Object constant = switch (next) {
        case '"', '`' -> quoted();
        case 0, '|', ')' -> throw error("a value is missing", at);
        default -> Character.isDigit(next) || next == '-' ? number() : flag();
      };
      return _ -> constant;
    }

    /**
     * Reads a path after a dot or {@code $.}. Both mean the same, because no supported block moves
     * the dot.
     */
    private String path() throws GoTemplateException {
      int from = at;
      at += text.charAt(at) == '$' ? 1 : 0;
      int begin = at;
      while (at < text.length() && (isName(text.charAt(at)) || text.charAt(at) == '.')) {
        at++;
      }
      var path = text.substring(begin, at);
      if (!path.matches("([.]\\w+)+")) {
        throw error("'" + text.substring(from, at) + "' is not supported; a value is named like"
            + " .Request.Method", from);
      }
      for (var unknown : absent) {
        if ((path + ".").startsWith("." + unknown + ".")) {
          throw error("." + unknown + " is not supported", from);
        }
      }
      return path.substring(1);
    }

    private static Expression field(String path, List<Expression> arguments) {
      return fields -> fields.value(path, TemplateFunctions.values(arguments, fields));
    }

    private boolean isFlag() {
      return text.startsWith("true", at) || text.startsWith("false", at);
    }

    private boolean flag() throws GoTemplateException {
      int from = at;
      var name = word();
      if (name.equals("true") || name.equals("false")) {
        return name.equals("true");
      }
      throw error(name.isEmpty()
          ? "'" + peek() + "' is not supported"
          : TemplateFunctions.isFunction(name)
              ? "a call of " + name + " as an argument needs parentheses"
              : TemplateFunctions.unknown(name),
          from);
    }

    private Object number() throws GoTemplateException {
      int from = at++;
      while (at < text.length() && (isName(text.charAt(at)) || text.charAt(at) == '.')) {
        at++;
      }
      var digits = text.substring(from, at);
      if (digits.matches("-?\\d{1,18}")) {
        return Long.parseLong(digits);
      }
      if (digits.matches("-?\\d{1,18}[.]\\d{1,18}")) {
        return Double.parseDouble(digits);
      }
      throw error("'" + digits + "' is not supported; a number is digits, with a point among them"
          + " for a fraction", from);
    }

    /** Skips blanks; 0 at the end. */
    private char peek() {
      while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
        at++;
      }
      return at < text.length() ? text.charAt(at) : 0;
    }

    private String word() {
      int from = at;
      while (at < text.length() && isName(text.charAt(at))) {
        at++;
      }
      return text.substring(from, at);
    }

    private static boolean isName(char c) {
      return Character.isLetterOrDigit(c) || c == '_';
    }

    /** {@link GoTemplateParser} has already checked that the quote is closed. */
    private String quoted() throws GoTemplateException {
      char quote = text.charAt(at++);
      var value = new StringBuilder();
      while (text.charAt(at) != quote) {
        char c = text.charAt(at++);
        value.append(c == '\\' && quote == '"' ? unescaped(text.charAt(at++)) : c);
      }
      at++;
      return value.toString();
    }

    private char unescaped(char c) throws GoTemplateException {
      return switch (c) {
        case 'n' -> '\n';
        case 't' -> '\t';
        case 'r' -> '\r';
        case '\\', '"', '\'' -> c;
        default -> throw error("\\" + c + " is not supported", at - 1);
      };
    }

    private GoTemplateException error(String message, int position) {
      return GoTemplateException.at(message, template,
          Math.min(offset + position, template.length()));
    }
  }
}
