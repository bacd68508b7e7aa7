package dev.activator.config;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The outline of Go's template language: actions are closed and say something, texts in them end, and
 * each block has its {@code end}. It is for templates that others carry out.
 *
 * <p>
 * <b>Source.</b> Go's {@code text/template/parse}, whose words for the errors these are.
 */
public final class TemplateSyntax {
  private static final Set<String> BLOCKS = Set.of("if", "range", "with", "define", "block");
  private static final String COMMENT = "/*";

  private final String text;
  private final Deque<String> open = new ArrayDeque<>();
  private int at;

  private TemplateSyntax(String text) {
    this.text = text;
  }

  /** What is wrong with the text, in a few words; null if nothing is. */
  public static @Nullable String problem(String text) {
    return new TemplateSyntax(text).problem();
  }

  private @Nullable String problem() {
    for (int begin = text.indexOf("{{"); begin >= 0; begin = text.indexOf("{{", at)) {
      at = begin + 2;
      var problem = action(begin);
      if (problem != null) {
        return problem + " at character " + (begin + 1);
      }
    }
    return open.isEmpty() ? null : "unexpected EOF: " + open.peek() + " has no end";
  }

  private @Nullable String action(int begin) {
    int end = closing();
    if (end < 0) {
      return "unclosed action";
    }
    var inside = trimmed(text.substring(begin + 2, end));
    at = end + 2;
    return inside.startsWith(COMMENT) ? null : command(inside);
  }

  private static String trimmed(String inside) {
    int from = inside.startsWith("- ") ? 2 : 0;
    int to = inside.endsWith(" -") && inside.length() >= from + 2
        ? inside.length() - 2
        : inside.length();
    return inside.substring(from, to).strip();
  }

  /** The braces that close the action, which may be part of a text in it; -1 for none. */
  private int closing() {
    int i = at;
    while (i < text.length() && !text.startsWith("}}", i)) {
      char c = text.charAt(i);
      i = c == '"' || c == '`' || c == '\'' ? afterQuote(i, c) : i + 1;
      if (i < 0) {
        return -1;
      }
    }
    return i < text.length() ? i : -1;
  }

  private int afterQuote(int from, char quote) {
    for (int i = from + 1; i < text.length(); i++) {
      if (text.charAt(i) == '\\' && quote != '`') {
        i++;
      } else if (text.charAt(i) == quote) {
        return i + 1;
      }
    }
    return -1;
  }

  private @Nullable String command(String inside) {
    if (inside.isEmpty()) {
      return "missing value for command";
    }
    var word = inside.split("\\s+", 2)[0];
    if (BLOCKS.contains(word)) {
      open.push(word);
      return inside.equals(word) ? "missing value for " + word : null;
    }
    if (open.isEmpty() && (word.equals("end") || word.equals("else"))) {
      return "unexpected {{" + word + "}}";
    }
    if (word.equals("end")) {
      open.pop();
    }
    return null;
  }
}
