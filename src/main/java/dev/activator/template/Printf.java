package dev.activator.template;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Formats values like Go's {@code Printf}. A verb that does not fit its value appears in the output
 * as an error text.
 *
 * <p><b>Source.</b> Go's {@code fmt}: {@code %s}, {@code %q}, {@code %d}, {@code %f}, {@code %t}
 * and {@code %v}, with a width, a precision, {@code -} and {@code 0}.
 */
public final class Printf {
  private static final Pattern VERB = Pattern.compile(
      "%(?<flags>[-0]*)(?<width>\\d{0,3})(?:[.](?<precision>\\d{0,3}))?(?<letter>.|$)",
      Pattern.DOTALL);
  private static final int PLAIN_DIGITS = 6;

  private Printf() {}

  /** The error message for a format; null if it fits this number of values. */
  static @Nullable String problem(String format, int values) {
    var letters = VERB.matcher(format).results().map(verb -> verb.group("letter")).toList();
    for (var letter : letters) {
      if (letter.isEmpty() || "sqdftv%".indexOf(letter) < 0) {
        return "'%" + letter + "' is not supported; printf has %s, %q, %d, %f, %t, %v and %%, with"
            + " a width, a precision, - and 0";
      }
    }
    long verbs = letters.stream().filter(letter -> !letter.equals("%")).count();
    return verbs == values ? null : "printf has " + verbs + " verbs for " + values + " values";
  }

  static String format(String format, List<Object> values) throws GoTemplateException {
    var to = new StringBuilder();
    int literal = 0;
    int used = 0;
    for (var verb : VERB.matcher(format).results().toList()) {
      to.append(format, literal, verb.start())
          .append(verb.group("letter").equals("%") ? "%" : one(verb, values.get(used++)));
      literal = verb.end();
    }
    return to.append(format.substring(literal)).toString();
  }

  private static String one(MatchResult verb, Object value) throws GoTemplateException {
    if (value instanceof List<?> list) {
      var elements = new ArrayList<String>();
      for (var element : list) {
        elements.add(one(verb, element));
      }
      return "[" + String.join(" ", elements) + "]";
    }
    char letter = verb.group("letter").charAt(0);
    var precision = verb.group("precision");
    int digits = precision == null ? -1 : precision.isEmpty() ? 0 : Integer.parseInt(precision);
    return switch (value) {
      case String text when letter == 's' || letter == 'v' -> padded(verb, cut(text, digits));
      case String text when letter == 'q' -> padded(verb, quoted(cut(text, digits)));
      case Long whole when letter == 'd' || letter == 'v' -> signed(verb, whole.toString());
      case Double number when letter == 'v' -> signed(verb, number(number));
      case Double number when letter == 'f' -> signed(verb, new BigDecimal(number)
          .setScale(digits < 0 ? PLAIN_DIGITS : digits, RoundingMode.HALF_EVEN).toPlainString());
      case Boolean flag when letter == 't' || letter == 'v' -> padded(verb, flag.toString());
      case GoTemplate.Pointer pointer when letter == 'v' -> padded(verb, pointer.toString());
      default -> "%!" + letter + "(" + type(value) + "=" + print(value) + ")";
    };
  }

  private static String type(Object value) {
    return switch (value) {
      case Long _ -> "int";
      case Double _ -> "float64";
      case Boolean _ -> "bool";
      case GoTemplate.Pointer _ -> "ptr";
      default -> "string";
    };
  }

  /** The value as {@code %v} prints it. */
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

  private static String cut(String text, int digits) {
    return digits < 0 || digits >= text.codePointCount(0, text.length())
        ? text
        : text.substring(0, text.offsetByCodePoints(0, digits));
  }

  private static String signed(MatchResult verb, String digits) {
    boolean negative = digits.startsWith("-");
    int missing = width(verb) - digits.length();
    return missing > 0 && verb.group("flags").equals("0")
        ? (negative ? "-" : "") + "0".repeat(missing) + digits.substring(negative ? 1 : 0)
        : padded(verb, digits);
  }

  private static String padded(MatchResult verb, String text) {
    var blanks = " ".repeat(Math.max(0, width(verb) - text.codePointCount(0, text.length())));
    return verb.group("flags").contains("-") ? text + blanks : blanks + text;
  }

  private static int width(MatchResult verb) {
    return verb.group("width").isEmpty() ? 0 : Integer.parseInt(verb.group("width"));
  }

  private static String quoted(String text) {
    var to = new StringBuilder(text.length() + 2).append('"');
    text.codePoints().forEach(point -> {
      int named = "\u0007\b\f\n\r\t\u000b".indexOf(point);
      if (point == '"' || point == '\\') {
        to.append('\\').appendCodePoint(point);
      } else if (named >= 0) {
        to.append('\\').append("abfnrtv".charAt(named));
      } else if (isPrintable(point)) {
        to.appendCodePoint(point);
      } else {
        to.append(String.format(Locale.ROOT,
            point < 0x80 ? "\\x%02x" : point < 0x10000 ? "\\u%04x" : "\\U%08x", point));
      }
    });
    return to.append('"').toString();
  }

  /**
   * Whether Go calls a character printable: letters, marks, numbers, punctuation, symbols and the
   * ASCII space.
   */
  static boolean isPrintable(int point) {
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
