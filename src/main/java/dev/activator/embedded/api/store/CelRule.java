package dev.activator.embedded.api.store;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * A validation rule of a definition, in the part of the Common Expression Language that our own
 * definition uses: fields, {@code has}, {@code size}, {@code in}, {@code matches}, {@code all},
 * {@code exists}, comparisons, sums of numbers, logic and conditions.
 *
 * <p><b>Source.</b> {@code langdef.md} of cel-spec. Unlike there, a field that is absent is no error,
 * and equals only another absent one.
 */
final class CelRule {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final String OLD = "oldSelf";
  private static final Pattern TOKEN = Pattern.compile(
      "\\s*(&&|\\|\\||[=!<>]=|[-+!<>?:.,()\\[\\]]|\\d+|'[^']*'|\"[^\"]*\"|[A-Za-z_]\\w*|\\S)");

  /** The operators, those that bind most loosely first. */
  private static final List<Set<String>> OPERATORS = List.of(Set.of("||"), Set.of("&&"),
      Set.of("==", "!=", "<", "<=", ">", ">=", "in"), Set.of("+"));

  /** A part of an expression, given the values of names. */
  private interface Term {
    JsonNode value(Map<String, JsonNode> names);

    default boolean isTrue(Map<String, JsonNode> names) {
      return value(names).asBoolean(false);
    }
  }

  private final String text;
  private final List<String> tokens;
  private final Term rule;
  private int at;

  /** @throws IllegalArgumentException if it uses another part of the language */
  CelRule(String text) {
    this.text = text;
    this.tokens = TOKEN.matcher(text).results().map(token -> token.group(1)).toList();
    this.rule = condition();
    if (at < tokens.size()) {
      throw unsupported();
    }
  }

  /** @param before null if there is no earlier value, with which the rule would compare */
  boolean allows(JsonNode now, @Nullable JsonNode before) {
    if (before == null) {
      return tokens.contains(OLD) || rule.isTrue(Map.of("self", now));
    }
    return rule.isTrue(Map.of("self", now, OLD, before));
  }

  private Term condition() {
    var when = binary(0);
    if (!skip("?")) {
      return when;
    }
    var then = condition();
    require(":");
    var otherwise = condition();
    return names -> (when.isTrue(names) ? then : otherwise).value(names);
  }

  /** Terms that are joined by operators of this level, or of one that binds more tightly. */
  private Term binary(int level) {
    if (level == OPERATORS.size()) {
      return negation();
    }
    var left = binary(level + 1);
    while (OPERATORS.get(level).contains(peek())) {
      var one = left;
      var operator = next();
      var other = binary(level + 1);
      left = names -> joined(one, operator, other, names);
    }
    return left;
  }

  private static JsonNode joined(Term first, String operator, Term second,
      Map<String, JsonNode> names) {
    if (operator.equals("||") || operator.equals("&&")) {
      return JSON.booleanNode(first.isTrue(names) == operator.equals("||")
          ? operator.equals("||")
          : second.isTrue(names));
    }
    var one = first.value(names);
    var other = second.value(names);
    return operator.equals("+")
        ? JSON.numberNode(one.asLong(0) + other.asLong(0))
        : JSON.booleanNode(switch (operator) {
          case "==" -> areEqual(one, other);
          case "!=" -> !areEqual(one, other);
          case "<" -> one.asLong(0) < other.asLong(0);
          case "<=" -> one.asLong(0) <= other.asLong(0);
          case ">" -> one.asLong(0) > other.asLong(0);
          case ">=" -> one.asLong(0) >= other.asLong(0);
          default -> other.valueStream().anyMatch(element -> areEqual(one, element));
        });
  }

  private static boolean areEqual(JsonNode one, JsonNode other) {
    return one.isNumber() && other.isNumber()
        ? one.asLong(0) == other.asLong(0)
        : one.equals(other);
  }

  private Term negation() {
    if (!skip("!")) {
      return member();
    }
    return negated(negation());
  }

  private static Term negated(Term term) {
    return names -> JSON.booleanNode(!term.isTrue(names));
  }

  private Term member() {
    var left = primary();
    while (skip(".")) {
      var of = left;
      var name = next();
      left = skip("(") ? call(of, name) : names -> of.value(names).path(name);
    }
    return left;
  }

  private Term call(Term of, String function) {
    Term result = switch (function) {
      case "matches" -> matches(of, literal(next()).asString());
      case "all" -> negated(anyElement(of, true));
      case "exists" -> anyElement(of, false);
      default -> throw unsupported();
    };
    require(")");
    return result;
  }

  /** RE2's end of the text is not before a line end, as Java's is. */
  private static Term matches(Term of, String regex) {
    var pattern = Pattern.compile(regex.replace("$", "\\z"));
    return names -> JSON.booleanNode(pattern.matcher(of.value(names).asString("")).find());
  }

  /** Whether the test is true of an element, or if it is negated, false. */
  private Term anyElement(Term of, boolean isNegated) {
    var variable = next();
    require(",");
    var test = condition();
    return names -> JSON.booleanNode(of.value(names).valueStream().anyMatch(element -> {
      var inside = new HashMap<>(names);
      inside.put(variable, element);
      return test.isTrue(inside) != isNegated;
    }));
  }

  private Term primary() {
    var token = next();
    if (token.equals("(")) {
      var inner = condition();
      require(")");
      return inner;
    }
    if (token.equals("[")) {
      var elements = new ArrayList<Term>();
      do {
        elements.add(condition());
      } while (skip(","));
      require("]");
      return names -> JSON.arrayNode()
          .addAll(elements.stream().map(one -> one.value(names)).toList());
    }
    if (skip("(")) {
      var argument = condition();
      require(")");
      return switch (token) {
        case "has" -> names -> JSON.booleanNode(!argument.value(names).isMissingNode());
        case "size" -> names -> {
          var value = argument.value(names);
          return JSON.numberNode(value.isString() ? value.asString().length() : value.size());
        };
        default -> throw unsupported();
      };
    }
    if (Character.isLetter(token.charAt(0))) {
      return names -> names.getOrDefault(token, JSON.missingNode());
    }
    var constant = literal(token);
    return _ -> constant;
  }

  private JsonNode literal(String token) {
    char first = token.charAt(0);
    if (first == '\'' || first == '"') {
      return JSON.stringNode(token.substring(1, token.length() - 1));
    }
    if (Character.isDigit(first)) {
      return JSON.numberNode(Long.parseLong(token));
    }
    throw unsupported();
  }

  private String peek() {
    return at < tokens.size() ? tokens.get(at) : "";
  }

  private String next() {
    if (at == tokens.size()) {
      throw unsupported();
    }
    return tokens.get(at++);
  }

  private boolean skip(String token) {
    boolean isNext = peek().equals(token);
    at += isNext ? 1 : 0;
    return isNext;
  }

  private void require(String token) {
    if (!skip(token)) {
      throw unsupported();
    }
  }

  private IllegalArgumentException unsupported() {
    return new IllegalArgumentException("'" + peek() + "' at token " + at + " of the rule " + text
        + " is not supported");
  }
}
