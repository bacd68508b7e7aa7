package dev.activator.observability;

import dev.activator.config.GoTemplate.Part;
import dev.activator.config.GoTemplate;
import dev.activator.config.TemplateException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A text with places that are filled in: {@code {{.Field}}}, {@code {{js .Field}}} and the like.
 *
 * <p>
 * <b>Source.</b> Go's {@code text/template}, of which fields, quoted texts, {@code js},
 * {@code index}, headers, pipes, comments and trimming are understood. That a field does not exist
 * shows only when it is filled in, as in Go.
 */
public final class Template {
  private static final String HEADER = ".Request.Header";
  private static final Set<String> STATEMENTS = Set.of("if", "else", "end", "range", "with",
      "template", "block", "define", "break", "continue");

  /** What a template may ask for. */
  public interface Values {
    /** The value of a name such as {@code Request.Method}; null if there is none. */
    @Nullable String field(String path);

    /** The values of a request's header, in order. */
    List<String> header(String name);
  }

  /** Something in a template that becomes a text. */
  @FunctionalInterface
  private interface Expression {
    String evaluate(Values values) throws TemplateException;
  }

  private final List<Expression> parts;

  private Template(List<Expression> parts) {
    this.parts = List.copyOf(parts);
  }

  /**
   * Reads a template.
   *
   * @throws TemplateException naming what is not understood, and where
   */
  public static Template parse(String text) throws TemplateException {
    var parts = new ArrayList<Expression>();
    for (var part : GoTemplate.parts(text)) {
      parts.add(switch (part) {
        case Part.Text(var literal) -> _ -> literal;
        case Part.Action action -> new Parser(action).parse();
      });
    }
    return new Template(parts);
  }

  /**
   * The text with its places filled in.
   *
   * @throws TemplateException where it asks for a field that does not exist
   */
  public String fill(Values values) throws TemplateException {
    var filled = new StringBuilder(512);
    for (var part : parts) {
      filled.append(part.evaluate(values));
    }
    return filled.toString();
  }

  /** Understands one action: a value, a call of {@code js} or {@code index}, or several in a pipe. */
  private static final class Parser {
    private final String text;
    private final int offset;
    private int at;

    Parser(Part.Action action) {
      this.text = action.inside();
      this.offset = action.at();
    }

    Expression parse() throws TemplateException {
      if (peek() == 0) {
        throw error("missing value for command", at);
      }
      var all = pipeline();
      if (peek() != 0) {
        throw error("'" + peek() + "' is not understood", at);
      }
      return all;
    }

    private Expression pipeline() throws TemplateException {
      var value = command();
      while (take('|')) {
        peek();
        int from = at;
        String function = name();
        if (!function.equals("js")) {
          throw error("a value can only be piped into js, not into '" + function + "'", from);
        }
        value = escaped(value);
      }
      return value;
    }

    private Expression command() throws TemplateException {
      char next = peek();
      if (next == '.' || next == '"' || next == '`' || next == '(') {
        return operand();
      }
      int from = at;
      String name = name();
      return switch (name) {
        case "js" -> escaped(operand());
        case "index" -> index();
        default -> throw error(STATEMENTS.contains(name)
            ? "{{" + name + "}} is not supported"
            : "function \"" + name + "\" is not defined", from);
      };
    }

    private static Expression escaped(Expression inner) {
      return values -> GoText.js(inner.evaluate(values));
    }

    /** All values of a header, as Go prints them. */
    private Expression index() throws TemplateException {
      peek();
      int from = at;
      String map = name();
      if (!map.equals(HEADER)) {
        throw error("only .Request.Header can be indexed, not '" + map + "'", from);
      }
      var header = operand();
      return values -> "[" + String.join(" ", values.header(header.evaluate(values))) + "]";
    }

    private Expression operand() throws TemplateException {
      return switch (peek()) {
        case '.' -> field();
        case '"', '`' -> {
          String quoted = quoted();
          yield _ -> quoted;
        }
        case '(' -> parenthesis();
        default -> throw error("a value is missing", at);
      };
    }

    private Expression parenthesis() throws TemplateException {
      int from = at;
      take('(');
      var inner = pipeline();
      if (!take(')')) {
        throw error("the parenthesis has no end", from);
      }
      return inner;
    }

    private Expression field() throws TemplateException {
      int from = at;
      String name = name();
      if (name.equals(HEADER + ".Get")) {
        var header = operand();
        return values -> values.header(header.evaluate(values)).stream().findFirst().orElse("");
      }
      String path = name.substring(1);
      if (path.isEmpty() || path.startsWith(".") || path.endsWith(".") || path.contains("..")) {
        throw error("'." + path + "' names no field", from);
      }
      return values -> {
        var value = values.field(path);
        if (value == null) {
          throw new TemplateException("there is no ." + path);
        }
        return value;
      };
    }

    /** The next character that is not blank; 0 at the end. */
    private char peek() {
      while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
        at++;
      }
      return at < text.length() ? text.charAt(at) : 0;
    }

    /** Takes this character, if it is next. */
    private boolean take(char wanted) {
      boolean found = peek() == wanted;
      at += found ? 1 : 0;
      return found;
    }

    /** A name of letters, digits and dots. */
    private String name() {
      peek();
      int from = at;
      while (at < text.length() && isName(text.charAt(at))) {
        at++;
      }
      return text.substring(from, at);
    }

    private static boolean isName(char c) {
      return Character.isLetterOrDigit(c) || c == '.' || c == '_' || c == '$';
    }

    /** A text in quotes or backquotes; that it has an end is known from finding the action's. */
    private String quoted() throws TemplateException {
      char quote = text.charAt(at++);
      var value = new StringBuilder();
      while (text.charAt(at) != quote) {
        char c = text.charAt(at++);
        value.append(c == '\\' && quote == '"' ? unescaped(text.charAt(at++)) : c);
      }
      at++;
      return value.toString();
    }

    private char unescaped(char c) throws TemplateException {
      return switch (c) {
        case 'n' -> '\n';
        case 't' -> '\t';
        case '\\', '"' -> c;
        default -> throw error("\\" + c + " is not understood", at - 1);
      };
    }

    private TemplateException error(String message, int position) {
      return new TemplateException(message, offset + position);
    }
  }
}
