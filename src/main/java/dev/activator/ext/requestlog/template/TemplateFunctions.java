package dev.activator.ext.requestlog.template;

import dev.activator.ext.requestlog.template.GoTemplate.Expression;
import dev.activator.ext.requestlog.template.GoTemplate.Fields;
import dev.activator.ext.requestlog.template.GoTemplate.Mapping;
import dev.activator.template.GoTemplateException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The functions that a template may call, and the texts of values.
 *
 * <p><b>Source.</b> {@code text/template/funcs.go} of Go, also for its errors.
 */
public final class TemplateFunctions {
  private static final int ANY = Integer.MAX_VALUE;
  private static final int PLAIN_DIGITS = 6;

  /** The minimum and maximum number of arguments of each function. */
  private static final Map<String, int[]> ARGUMENTS = Map.ofEntries(
      Map.entry("and", new int[]{1, ANY}), Map.entry("or", new int[]{1, ANY}),
      Map.entry("not", new int[]{1, 1}), Map.entry("eq", new int[]{2, ANY}),
      Map.entry("ne", new int[]{2, 2}), Map.entry("lt", new int[]{2, 2}),
      Map.entry("le", new int[]{2, 2}), Map.entry("gt", new int[]{2, 2}),
      Map.entry("ge", new int[]{2, 2}), Map.entry("index", new int[]{2, 3}),
      Map.entry("js", new int[]{1, 1}));

  private TemplateFunctions() {}

  static boolean isFunction(String name) {
    return ARGUMENTS.containsKey(name);
  }

  static String unknown(String name) {
    return "'" + name
        + "' is not supported; the functions are and, or, not, eq, ne, lt, le, gt, ge,"
        + " index and js";
  }

  /** The error message for a call; null if it is valid. */
  static @Nullable String problem(String name, int arguments) {
    int[] range = ARGUMENTS.get(name);
    if (range == null) {
      return unknown(name);
    }
    return arguments >= range[0] && arguments <= range[1]
        ? null
        : "wrong number of arguments for " + name + ": it has " + arguments + ", but needs "
            + (range[1] == range[0] ? "" : arguments < range[0] ? "at least " : "at most ")
            + (arguments < range[0] ? range[0] : range[1]);
  }

  static Expression call(String name, List<Expression> arguments) {
    if (name.equals("and") || name.equals("or")) {
      return fields -> firstThatDecides(arguments, fields, name.equals("or"));
    }
    return fields -> {
      var values = values(arguments, fields);
      var first = values.getFirst();
      return switch (name) {
        case "not" -> !isTrue(first);
        case "eq" -> isAnyEqual(values);
        case "ne" -> compare(values) != 0;
        case "lt" -> compare(values) < 0;
        case "le" -> compare(values) <= 0;
        case "gt" -> compare(values) > 0;
        case "ge" -> compare(values) >= 0;
        case "index" -> index(values);
        case "js" -> js(print(first));
        default -> throw new IllegalArgumentException(name);
      };
    };
  }

  static List<Object> values(List<Expression> expressions, Fields fields)
      throws GoTemplateException {
    var values = new ArrayList<>(expressions.size());
    for (var expression : expressions) {
      values.add(expression.value(fields));
    }
    return values;
  }

  /**
   * The first argument that decides the result of {@code and} or {@code or}, or else the last one.
   * Arguments after it are not evaluated.
   */
  private static Object firstThatDecides(List<Expression> arguments, Fields fields,
      boolean decides) throws GoTemplateException {
    for (var argument : arguments.subList(0, arguments.size() - 1)) {
      var value = argument.value(fields);
      if (isTrue(value) == decides) {
        return value;
      }
    }
    return arguments.getLast().value(fields);
  }

  /** Whether a value counts as true, as in Go: it is not the empty value of its type. */
  static boolean isTrue(Object value) {
    return switch (value) {
      case Boolean flag -> flag;
      case String text -> !text.isEmpty();
      case Long whole -> whole != 0;
      case Double number -> number != 0;
      case List<?> list -> !list.isEmpty();
      case GoTemplate.Pointer pointer -> !pointer.isNil();
      default -> true;
    };
  }

  private static boolean isAnyEqual(List<Object> values) throws GoTemplateException {
    for (var other : values.subList(1, values.size())) {
      if (compare(List.of(values.getFirst(), other)) == 0) {
        return true;
      }
    }
    return false;
  }

  private static int compare(List<Object> two) throws GoTemplateException {
    var one = two.getFirst();
    var other = two.get(1);
    if (one instanceof String a && other instanceof String b) {
      return a.compareTo(b);
    }
    if (one instanceof Long a && other instanceof Long b) {
      return a.compareTo(b);
    }
    if (one instanceof Double a && other instanceof Double b) {
      return a.compareTo(b);
    }
    if (one instanceof Boolean a && other instanceof Boolean b) {
      return a.compareTo(b);
    }
    throw new GoTemplateException("incompatible types for comparison");
  }

  private static Object index(List<Object> arguments) throws GoTemplateException {
    var value = arguments.getFirst();
    for (var key : arguments.subList(1, arguments.size())) {
      if (value instanceof Mapping map && key instanceof String name) {
        value = map.at(name);
      } else if (value instanceof List<?> list && key instanceof Long at && at >= 0
          && at < list.size()) {
        value = list.get(at.intValue());
      } else {
        throw new GoTemplateException("there is nothing at the index " + print(key));
      }
    }
    return value;
  }

  /** Escapes a text for a JavaScript or JSON string. <b>Source.</b> {@code JSEscape}. */
  private static String js(String text) {
    var escaped = new StringBuilder(text.length() + 16);
    text.codePoints().forEach(point -> {
      if ("\\'\"".indexOf(point) >= 0) {
        escaped.append('\\').appendCodePoint(point);
      } else if ("<>&=".indexOf(point) >= 0 || !isPrintable(point)) {
        escaped.append("\\u").append(String.format(Locale.ROOT, "%04X", point));
      } else {
        escaped.appendCodePoint(point);
      }
    });
    return escaped.toString();
  }

  /** The text of a value, as Go prints it. */
  static String print(Object value) throws GoTemplateException {
    return switch (value) {
      case Double number -> number(number);
      case List<?> list -> String.join(" ", list.stream().map(String::valueOf).toList())
          .transform(all -> "[" + all + "]");
      case GoTemplate.Mapping _ ->
        throw new GoTemplateException("a map cannot be printed, only its value for a name");
      default -> value.toString();
    };
  }

  /**
   * Whether Go calls a character printable: letters, marks, numbers, punctuation, symbols and the
   * ASCII space.
   */
  private static boolean isPrintable(int point) {
    return switch (Character.getType(point)) {
      case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.PRIVATE_USE -> false;
      case Character.UNASSIGNED, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
      case Character.SPACE_SEPARATOR -> point == ' ';
      default -> true;
    };
  }

  /**
   * The shortest text that stands for a number, with an exponent if the number is very small or
   * large.
   */
  public static String number(double value) {
    if (value == 0) {
      return "0";
    }
    var exact = new BigDecimal(Double.toString(value)).stripTrailingZeros();
    int exponent = exact.precision() - exact.scale() - 1;
    if (exponent >= -4 && exponent < PLAIN_DIGITS) {
      return exact.toPlainString();
    }
    var digits = exact.unscaledValue().abs().toString();
    return (value < 0 ? "-" : "") + digits.charAt(0)
        + (digits.length() == 1 ? "" : "." + digits.substring(1))
        + String.format(Locale.ROOT, exponent < 0 ? "e-%02d" : "e+%02d", Math.abs(exponent));
  }
}
