package dev.activator.observability;

import dev.activator.config.TemplateException;
import dev.activator.observability.Template.Struct;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Formats as Go's {@code Printf}; a verb that does not fit its value shows in the output.
 *
 * <p><b>Source.</b> Go's {@code fmt}, without {@code *}, {@code %[1]d} and hexadecimal fractions.
 */
final class GoFormat {
  private static final int DEFAULT_PRECISION = 6;

  /** @param width -1 if absent, like {@code precision} */
  private record Verb(String flags, int width, int precision, int letter) {
    boolean has(char flag) {
      return flags.indexOf(flag) >= 0;
    }
  }

  private GoFormat() {}

  static String format(String format, List<@Nullable Object> values) throws TemplateException {
    var to = new StringBuilder();
    int used = 0;
    int at = 0;
    while (at < format.length()) {
      char c = format.charAt(at++);
      if (c != '%') {
        to.append(c);
        continue;
      }
      int flags = at;
      while (at < format.length() && "+-# 0".indexOf(format.charAt(at)) >= 0) {
        at++;
      }
      int width = at;
      at = digits(format, at);
      int point = at;
      boolean precise = at < format.length() && format.charAt(at) == '.';
      at = precise ? digits(format, at + 1) : at;
      if (at >= format.length()) {
        to.append("%!(NOVERB)");
        break;
      }
      int letter = format.codePointAt(at);
      var verb = new Verb(format.substring(flags, width), number(format, width, point),
          precise ? Math.max(0, number(format, point + 1, at)) : -1, letter);
      at += Character.charCount(letter);
      if (letter == '%') {
        to.append('%');
      } else if (used < values.size()) {
        to.append(one(verb, values.get(used++)));
      } else {
        to.append("%!").appendCodePoint(letter).append("(MISSING)");
      }
    }
    if (used < values.size()) {
      var extra = new ArrayList<String>();
      for (var value : values.subList(used, values.size())) {
        extra.add(value == null ? "<nil>" : type(value) + "=" + text(value));
      }
      to.append("%!(EXTRA ").append(String.join(", ", extra)).append(')');
    }
    return to.toString();
  }

  private static int digits(String format, int from) {
    int at = from;
    while (at < format.length() && Character.isDigit(format.charAt(at))) {
      at++;
    }
    return at;
  }

  /** As in Go, no padding is wider than a million. */
  private static int number(String format, int from, int to) {
    return from == to ? -1 : to - from > 6 ? 0 : Integer.parseInt(format.substring(from, to));
  }

  /** As {@code %v}. */
  static String text(@Nullable Object value) throws TemplateException {
    return one(new Verb("", -1, -1, 'v'), value);
  }

  private static String one(Verb verb, @Nullable Object value) throws TemplateException {
    if (verb.letter == 'T') {
      return padded(verb, value == null ? "<nil>" : type(value));
    }
    return switch (value) {
      case null ->
        verb.letter == 'v'
            ? padded(verb, "<nil>")
            : "%!" + Character.toString(verb.letter) + "(<nil>)";
      case String text -> text(verb, text);
      case Long whole -> whole(verb, whole);
      case Double number -> fraction(verb, number);
      case Boolean flag -> verb.letter == 't' || verb.letter == 'v'
          ? padded(verb, flag.toString())
          : bad(verb, value);
      case Struct struct -> one(verb, struct.printed());
      case Map<?, ?> map -> {
        var entries = new ArrayList<String>();
        for (var entry : map.entrySet()) {
          entries.add(one(verb, entry.getKey()) + ":" + one(verb, entry.getValue()));
        }
        yield "map[" + String.join(" ", entries) + "]";
      }
      case List<?> list -> {
        var elements = new ArrayList<String>();
        for (var element : list) {
          elements.add(one(verb, element));
        }
        yield "[" + String.join(" ", elements) + "]";
      }
      default -> throw new TemplateException("what is printed is not a value");
    };
  }

  private static String bad(Verb verb, Object value) throws TemplateException {
    return "%!" + Character.toString(verb.letter) + "(" + type(value) + "=" + text(value) + ")";
  }

  private static String type(Object value) {
    return switch (value) {
      case String _ -> "string";
      case Long _ -> "int";
      case Double _ -> "float64";
      case Boolean _ -> "bool";
      case List<?> _ -> "[]string";
      default -> "struct";
    };
  }

  private static String text(Verb verb, String text) throws TemplateException {
    return switch (verb.letter) {
      case 'v', 's' -> padded(verb, cut(verb, text));
      case 'q' -> padded(verb, verb.has('#') && text.indexOf('`') < 0
          && text.chars().allMatch(c -> c >= ' ' && c != 0x7f || c == '\t')
              ? "`" + cut(verb, text) + "`"
              : GoText.quoted(cut(verb, text), '"', verb.has('+')));
      case 'x', 'X' -> {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        String prefix = verb.has('#') && bytes.length > 0 ? "0x" : "";
        var hex = HexFormat.ofDelimiter(verb.has(' ') ? " " + prefix : "").formatHex(bytes, 0,
            verb.precision < 0 ? bytes.length : Math.min(bytes.length, verb.precision));
        yield padded(verb, upper(verb, prefix + hex));
      }
      default -> bad(verb, text);
    };
  }

  private static String cut(Verb verb, String text) {
    return verb.precision < 0 || verb.precision >= text.codePointCount(0, text.length())
        ? text
        : text.substring(0, text.offsetByCodePoints(0, verb.precision));
  }

  private static String whole(Verb verb, long value) throws TemplateException {
    return switch (verb.letter) {
      case 'd', 'v' -> integer(verb, value, 10, "");
      case 'b' -> integer(verb, value, 2, verb.has('#') ? "0b" : "");
      case 'o' -> integer(verb, value, 8, verb.has('#') ? "0" : "");
      case 'O' -> integer(verb, value, 8, "0o");
      case 'x', 'X' -> upper(verb, integer(verb, value, 16, verb.has('#') ? "0x" : ""));
      case 'c' -> padded(verb, character(value));
      case 'q' -> padded(verb, GoText.quoted(character(value), '\'', verb.has('+')));
      case 'U' -> padded(verb, "U+" + String.format(Locale.ROOT, "%04X", value));
      default -> bad(verb, value);
    };
  }

  private static String character(long value) {
    return Character.toString(value >= 0 && value <= Character.MAX_CODE_POINT
        ? (int) value
        : 0xfffd);
  }

  private static String integer(Verb verb, long value, int base, String prefix) {
    String digits = value == 0 && verb.precision == 0
        ? ""
        : Long.toUnsignedString(Math.abs(value), base);
    String zeros = "0".repeat(Math.max(0, verb.precision - digits.length()));
    return signed(verb, value < 0, prefix + zeros + digits, verb.precision < 0);
  }

  private static String fraction(Verb verb, double value) throws TemplateException {
    boolean negative = value < 0 || 1 / value < 0;
    double size = Math.abs(value);
    return switch (verb.letter) {
      case 'v', 'g', 'G' -> signed(verb, negative,
          upper(verb, verb.precision < 0 ? GoText.number(size) : general(size, verb.precision)),
          true);
      case 'e', 'E' -> signed(verb, negative, upper(verb, GoText.scientific(
          rounded(size, 1 + (verb.precision < 0 ? DEFAULT_PRECISION : verb.precision)),
          verb.precision < 0 ? DEFAULT_PRECISION : verb.precision)), true);
      case 'f', 'F' -> signed(verb, negative,
          new BigDecimal(size).setScale(verb.precision < 0 ? DEFAULT_PRECISION : verb.precision,
              RoundingMode.HALF_EVEN).toPlainString(),
          true);
      default -> bad(verb, value);
    };
  }

  /** As {@code %g}. */
  private static String general(double size, int precision) {
    var digits = rounded(size, Math.max(1, precision)).stripTrailingZeros();
    int exponent = digits.precision() - digits.scale() - 1;
    int most = Math.max(1, precision);
    return size == 0
        ? "0"
        : exponent < -4 || exponent >= most
            ? GoText.scientific(digits, digits.precision() - 1)
            : digits.toPlainString();
  }

  private static BigDecimal rounded(double size, int digits) {
    return new BigDecimal(size).round(new MathContext(digits, RoundingMode.HALF_EVEN));
  }

  private static String upper(Verb verb, String text) {
    return Character.isUpperCase(verb.letter) ? text.toUpperCase(Locale.ROOT) : text;
  }

  private static String signed(Verb verb, boolean negative, String digits, boolean zeros) {
    String sign = negative ? "-" : verb.has('+') ? "+" : verb.has(' ') ? " " : "";
    int missing = verb.width - sign.length() - digits.length();
    return zeros && verb.has('0') && !verb.has('-') && missing > 0
        ? sign + "0".repeat(missing) + digits
        : padded(verb, sign + digits);
  }

  private static String padded(Verb verb, String text) {
    String blanks = " ".repeat(Math.max(0, verb.width - text.codePointCount(0, text.length())));
    return verb.has('-') ? text + blanks : blanks + text;
  }
}
