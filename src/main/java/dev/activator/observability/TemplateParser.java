package dev.activator.observability;

import dev.activator.config.GoTemplate.Node;
import dev.activator.config.TemplateException;
import dev.activator.observability.Template.Expression;
import dev.activator.observability.Template.Struct;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parses one action: a value, a call, or a pipeline. */
final class TemplateParser {
  private static final Pattern NUMBER = Pattern
      .compile("[+-]?(0[xX][0-9a-fA-F_]+|[0-9_]*\\.?[0-9_]+([eE][+-]?[0-9]+)?|[0-9_]+\\.)");

  private final String template;
  private final String text;
  private final int offset;
  private final Set<String> absent;
  private int at;

  TemplateParser(String template, Node.Action action, Set<String> absent) {
    this.template = template;
    this.text = action.inside();
    this.offset = action.at();
    this.absent = absent;
  }

  Expression parse() throws TemplateException {
    var all = pipeline();
    if (peek() != 0) {
      throw error("'" + peek() + "' is not understood", at);
    }
    return all;
  }

  private Expression pipeline() throws TemplateException {
    var value = command(null);
    while (take('|')) {
      value = command(value);
    }
    return value;
  }

  /** @param piped its last argument, if any */
  private Expression command(@Nullable Expression piped) throws TemplateException {
    char next = peek();
    int from = at;
    if (next == '.' || next == '$' || next == '(') {
      return member(piped);
    }
    if (Character.isLetter(next)) {
      String name = word();
      if (TemplateFunctions.isFunction(name)) {
        return call(name, from, arguments(piped));
      }
      at = from;
    }
    var literal = operand();
    if (!arguments(piped).isEmpty()) {
      throw error("can't give an argument to " + text.substring(from, at).strip(), from);
    }
    return literal;
  }

  private Expression call(String name, int from, List<Expression> arguments)
      throws TemplateException {
    var problem = TemplateFunctions.problem(name, arguments.size());
    if (problem != null) {
      throw error(problem, from);
    }
    return TemplateFunctions.call(name, List.copyOf(arguments));
  }

  private List<Expression> arguments(@Nullable Expression piped) throws TemplateException {
    var arguments = new ArrayList<Expression>();
    for (char next = peek(); next != 0 && next != '|' && next != ')'; next = peek()) {
      arguments.add(operand());
    }
    if (piped != null) {
      arguments.add(piped);
    }
    return arguments;
  }

  private Expression member(@Nullable Expression piped) throws TemplateException {
    int from = at;
    var base = base();
    var names = names(from, text.charAt(from));
    var arguments = arguments(piped);
    if (names.isEmpty() && !arguments.isEmpty()) {
      throw error("can't give an argument to " + text.substring(from, at).strip(), from);
    }
    return chained(base, names, arguments);
  }

  private Expression operand() throws TemplateException {
    char next = peek();
    int from = at;
    return switch (next) {
      case '.', '$', '(' -> {
        // A number may begin with its point.
        if (next == '.' && at + 1 < text.length() && Character.isDigit(text.charAt(at + 1))) {
          yield number();
        }
        var base = base();
        yield chained(base, names(from, next), List.of());
      }
      case '"', '`' -> constant(quoted());
      case '\'' -> {
        String character = quoted();
        if (character.codePointCount(0, character.length()) != 1) {
          throw error("'" + character + "' is not one character", from);
        }
        yield constant((long) character.codePointAt(0));
      }
      case 0, '|', ')' -> throw error("a value is missing", at);
      default -> Character.isDigit(next) || next == '-' || next == '+' ? number() : named();
    };
  }

  private Expression named() throws TemplateException {
    int from = at;
    String name = word();
    return switch (name) {
      case "true" -> constant(true);
      case "false" -> constant(false);
      case "nil" -> constant(null);
      case "" -> throw error("'" + text.charAt(at) + "' is not understood", at);
      default -> throw error(TemplateFunctions.isFunction(name)
          ? "a call of " + name + " as an argument needs parentheses"
          : "function \"" + name + "\" is not defined; there are " + TemplateFunctions.NAMES,
          from);
    };
  }

  /** The dot, the root, or parentheses; fields follow. */
  private Expression base() throws TemplateException {
    int from = at;
    char first = text.charAt(at);
    if (first == '.') {
      return Template.Scope::dot;
    }
    at++;
    if (first == '(') {
      var inner = pipeline();
      if (!take(')')) {
        throw error("the parenthesis has no end", from);
      }
      return inner;
    }
    if (at < text.length() && isName(text.charAt(at))) {
      throw error(
          "variables such as $" + word() + " are not supported; $ alone is what the template"
              + " is filled in with",
          from);
    }
    return Template.Scope::root;
  }

  /** None for the dot alone. */
  private List<String> names(int from, char base) throws TemplateException {
    var names = new ArrayList<String>();
    boolean alone = base == '.' && (at + 1 == text.length() || !isName(text.charAt(at + 1)))
        && !text.startsWith("..", at);
    if (alone) {
      at++;
      return names;
    }
    while (at < text.length() && text.charAt(at) == '.') {
      at++;
      String name = word();
      if (name.isEmpty()) {
        throw error("'" + text.substring(from, at) + "' names no field", from);
      }
      names.add(name);
    }
    String path = String.join(".", names);
    for (var unknown : base == '(' ? Set.<String>of() : absent) {
      if ((path + ".").startsWith(unknown + ".")) {
        throw error("." + unknown + " is not supported", from);
      }
    }
    return names;
  }

  private static Expression chained(Expression base, List<String> names,
      List<Expression> arguments) {
    var value = base;
    for (int i = 0; i < names.size(); i++) {
      var inner = value;
      var name = names.get(i);
      var given = i == names.size() - 1 ? arguments : List.<Expression>of();
      value = scope -> {
        if (inner.value(scope) instanceof Struct struct) {
          return struct.member(name, TemplateFunctions.values(given, scope));
        }
        throw new TemplateException("there is no ." + name);
      };
    }
    return value;
  }

  private static Expression constant(@Nullable Object value) {
    return _ -> value;
  }

  private Expression number() throws TemplateException {
    int from = at;
    var matcher = NUMBER.matcher(text).region(at, text.length());
    if (!matcher.lookingAt()
        || (matcher.end() < text.length() && isName(text.charAt(matcher.end())))) {
      throw error("bad number syntax", from);
    }
    String digits = matcher.group().replace("_", "");
    at = matcher.end();
    try {
      boolean hex = digits.startsWith("x", digits.indexOf('0') + 1);
      if (hex || !digits.matches(".*[.eE].*")) {
        return constant(Long.decode(digits));
      }
      double value = Double.parseDouble(digits);
      if (Double.isFinite(value)) {
        return constant(value);
      }
      throw error("the number is too large", from);
    } catch (NumberFormatException malformed) {
      throw error("bad number syntax", from);
    }
  }

  /** Skips blanks; 0 at the end. */
  private char peek() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return at < text.length() ? text.charAt(at) : 0;
  }

  private boolean take(char wanted) {
    boolean found = peek() == wanted;
    at += found ? 1 : 0;
    return found;
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

  /** Finding the action has already checked that the quote is closed. */
  private String quoted() throws TemplateException {
    char quote = text.charAt(at++);
    var value = new StringBuilder();
    while (text.charAt(at) != quote) {
      char c = text.charAt(at++);
      value.append(c == '\\' && quote != '`' ? unescaped(text.charAt(at++)) : c);
    }
    at++;
    return value.toString();
  }

  private char unescaped(char c) throws TemplateException {
    return switch (c) {
      case 'n' -> '\n';
      case 't' -> '\t';
      case 'r' -> '\r';
      case '\\', '"', '\'' -> c;
      default -> throw error("\\" + c + " is not understood", at - 1);
    };
  }

  private TemplateException error(String message, int position) {
    return TemplateException.at(message, template, Math.min(offset + position, template.length()));
  }
}
