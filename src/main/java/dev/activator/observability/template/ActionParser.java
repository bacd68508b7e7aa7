package dev.activator.observability.template;

import java.util.Set;

/**
 * Understands one action: a value, a call of {@code js} or {@code index}, or several in a pipe.
 *
 * <p>
 * <b>Threads.</b> One.
 */
final class ActionParser {
  private static final Set<String> STATEMENTS = Set.of("if", "else", "end", "range", "with",
      "template", "block", "define", "break", "continue");

  private final Scanner in;

  ActionParser(Scanner in) {
    this.in = in;
  }

  Expression parse() throws TemplateException {
    if (in.peek() == 0) {
      throw in.error("missing value for command", in.position());
    }
    var all = pipeline();
    if (in.peek() != 0) {
      throw in.error("'" + in.peek() + "' is not understood", in.position());
    }
    return all;
  }

  private Expression pipeline() throws TemplateException {
    var value = command();
    while (in.take('|')) {
      in.peek();
      int from = in.position();
      String function = in.name();
      if (!function.equals("js")) {
        throw in.error("a value can only be piped into js, not into '" + function + "'", from);
      }
      value = new Expression.Escaped(value);
    }
    return value;
  }

  private Expression command() throws TemplateException {
    char next = in.peek();
    if (next == '.' || next == '"' || next == '`' || next == '(') {
      return operand();
    }
    int from = in.position();
    String name = in.name();
    return switch (name) {
      case "js" -> new Expression.Escaped(operand());
      case "index" -> index();
      default -> throw in.error(STATEMENTS.contains(name)
          ? "{{" + name + "}} is not supported"
          : "function \"" + name + "\" is not defined", from);
    };
  }

  private Expression index() throws TemplateException {
    in.peek();
    int from = in.position();
    String map = in.name();
    if (!map.equals("." + Expression.HEADER)) {
      throw in.error("only .Request.Header can be indexed, not '" + map + "'", from);
    }
    return new Expression.Index(operand());
  }

  private Expression operand() throws TemplateException {
    return switch (in.peek()) {
      case '.' -> field();
      case '"', '`' -> new Expression.Text(in.quoted());
      case '(' -> parenthesis();
      default -> throw in.error("a value is missing", in.position());
    };
  }

  private Expression parenthesis() throws TemplateException {
    int from = in.position();
    in.take('(');
    var inner = pipeline();
    if (!in.take(')')) {
      throw in.error("the parenthesis has no end", from);
    }
    return inner;
  }

  private Expression field() throws TemplateException {
    int from = in.position();
    String path = in.name().substring(1);
    if (path.equals(Expression.HEADER + ".Get")) {
      return new Expression.Header(operand());
    }
    if (path.isEmpty() || path.startsWith(".") || path.endsWith(".") || path.contains("..")) {
      throw in.error("'." + path + "' names no field", from);
    }
    return new Expression.Field(path);
  }
}
