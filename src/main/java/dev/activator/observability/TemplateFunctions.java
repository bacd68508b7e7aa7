package dev.activator.observability;

import dev.activator.config.TemplateException;
import dev.activator.observability.Template.Expression;
import dev.activator.observability.Template.Mapping;
import dev.activator.observability.Template.Scope;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** <b>Source.</b> {@code text/template/funcs.go} of Go, also for what is an error. */
final class TemplateFunctions {
  private static final int ANY = Integer.MAX_VALUE;

  /** The fewest and the most arguments. */
  private static final Map<String, int[]> ARGUMENTS = Map.ofEntries(
      Map.entry("and", new int[]{1, ANY}), Map.entry("or", new int[]{1, ANY}),
      Map.entry("not", new int[]{1, 1}), Map.entry("eq", new int[]{2, ANY}),
      Map.entry("ne", new int[]{2, 2}), Map.entry("lt", new int[]{2, 2}),
      Map.entry("le", new int[]{2, 2}), Map.entry("gt", new int[]{2, 2}),
      Map.entry("ge", new int[]{2, 2}), Map.entry("len", new int[]{1, 1}),
      Map.entry("index", new int[]{1, ANY}), Map.entry("print", new int[]{0, ANY}),
      Map.entry("printf", new int[]{1, ANY}), Map.entry("println", new int[]{0, ANY}),
      Map.entry("html", new int[]{1, ANY}), Map.entry("js", new int[]{1, ANY}),
      Map.entry("urlquery", new int[]{1, ANY}));

  static final String NAMES = "and, or, not, eq, ne, lt, le, gt, ge, len, index, print, printf,"
      + " println, html, js and urlquery";

  @FunctionalInterface
  private interface Function {
    @Nullable Object of(List<@Nullable Object> arguments) throws TemplateException;
  }

  private TemplateFunctions() {}

  static boolean isFunction(String name) {
    return ARGUMENTS.containsKey(name);
  }

  /** An error message; null if valid. */
  static @Nullable String problem(String name, int arguments) {
    int[] range = Objects.requireNonNull(ARGUMENTS.get(name));
    if (arguments >= range[0] && arguments <= range[1]) {
      return null;
    }
    return "wrong number of arguments for " + name + ": it has " + arguments + ", but needs "
        + (range[1] == ANY ? "at least " : "") + range[0];
  }

  static Expression call(String name, List<Expression> arguments) {
    return switch (name) {
      case "and" -> scope -> chosen(arguments, scope, false);
      case "or" -> scope -> chosen(arguments, scope, true);
      case "not" -> applied(arguments, all -> !isTrue(all.getFirst()));
      case "eq" -> applied(arguments, TemplateFunctions::isAnyEqual);
      case "ne" -> applied(arguments, all -> !isAnyEqual(all));
      case "lt" -> compared(arguments, order -> order < 0);
      case "le" -> compared(arguments, order -> order <= 0);
      case "gt" -> compared(arguments, order -> order > 0);
      case "ge" -> compared(arguments, order -> order >= 0);
      case "len" -> applied(arguments, all -> length(all.getFirst()));
      case "index" -> applied(arguments, TemplateFunctions::index);
      case "print" -> applied(arguments, TemplateFunctions::print);
      case "printf" -> applied(arguments, all -> {
        if (all.getFirst() instanceof String format) {
          return GoFormat.format(format, all.subList(1, all.size()));
        }
        throw new TemplateException("the first argument of printf is not a string");
      });
      case "println" -> applied(arguments, all -> {
        var texts = new ArrayList<String>();
        for (var one : all) {
          texts.add(GoFormat.text(one));
        }
        return String.join(" ", texts) + "\n";
      });
      case "html" -> applied(arguments, all -> GoText.html(print(all)));
      case "js" -> applied(arguments, all -> GoText.js(print(all)));
      case "urlquery" -> applied(arguments,
          all -> URLEncoder.encode(print(all), StandardCharsets.UTF_8).replace("*", "%2A")
              .replace("%7E", "~"));
      default -> throw new IllegalArgumentException(name);
    };
  }

  private static Expression applied(List<Expression> arguments, Function function) {
    return scope -> function.of(values(arguments, scope));
  }

  private static Expression compared(List<Expression> arguments, IntPredicate wanted) {
    return applied(arguments,
        all -> wanted.test(compare(all.getFirst(), all.get(1))));
  }

  static List<@Nullable Object> values(List<Expression> expressions, Scope scope)
      throws TemplateException {
    var values = new ArrayList<@Nullable Object>(expressions.size());
    for (var expression : expressions) {
      values.add(expression.value(scope));
    }
    return values;
  }

  /** The first argument that decides, or else the last; stops there. */
  private static @Nullable Object chosen(List<Expression> arguments, Scope scope, boolean decides)
      throws TemplateException {
    Object value = null;
    for (var argument : arguments) {
      value = argument.value(scope);
      if (isTrue(value) == decides) {
        return value;
      }
    }
    return value;
  }

  /** As in Go: not its type's empty value. */
  static boolean isTrue(@Nullable Object value) throws TemplateException {
    return switch (value) {
      case null -> false;
      case Boolean flag -> flag;
      case String text -> !text.isEmpty();
      case Long whole -> whole != 0;
      case Double number -> number != 0;
      case List<?> list -> !list.isEmpty();
      case Mapping map -> !map.all().isEmpty();
      default -> true;
    };
  }

  private static boolean isAnyEqual(List<@Nullable Object> values) throws TemplateException {
    var first = values.getFirst();
    for (var other : values.subList(1, values.size())) {
      if (first == null || other == null ? first == other : compare(first, other) == 0) {
        return true;
      }
    }
    return false;
  }

  private static int compare(@Nullable Object one, @Nullable Object other)
      throws TemplateException {
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
    throw new TemplateException("incompatible types for comparison");
  }

  private static long length(@Nullable Object value) throws TemplateException {
    return switch (value) {
      case String text -> text.getBytes(StandardCharsets.UTF_8).length;
      case List<?> list -> list.size();
      case Mapping map -> map.all().size();
      case null, default -> throw new TemplateException("len of what has no length");
    };
  }

  private static @Nullable Object index(List<@Nullable Object> arguments)
      throws TemplateException {
    var value = arguments.getFirst();
    for (var key : arguments.subList(1, arguments.size())) {
      value = switch (value) {
        case Mapping map when key instanceof String name -> map.at(name);
        case List<?> list when key instanceof Long at -> {
          if (at < 0 || at >= list.size()) {
            throw new TemplateException("index out of range: " + at);
          }
          yield list.get(at.intValue());
        }
        case null, default -> throw new TemplateException("what is indexed has no such index");
      };
    }
    return value;
  }

  /** A map's values, in the order of keys. */
  static List<?> elements(@Nullable Object value) throws TemplateException {
    return switch (value) {
      case null -> List.of();
      case List<?> list -> list;
      case Mapping map -> List.copyOf(map.all().values());
      default -> throw new TemplateException("range can't iterate over " + printed(value));
    };
  }

  /** As in Go: a space between two arguments of which neither is a string. */
  private static String print(List<@Nullable Object> values) throws TemplateException {
    var to = new StringBuilder();
    boolean text = true;
    for (int i = 0; i < values.size(); i++) {
      boolean before = text;
      text = values.get(i) instanceof String;
      to.append(i > 0 && !before && !text ? " " : "").append(GoFormat.text(values.get(i)));
    }
    return to.toString();
  }

  static String printed(@Nullable Object value) throws TemplateException {
    return value == null ? "<no value>" : GoFormat.text(value);
  }
}
