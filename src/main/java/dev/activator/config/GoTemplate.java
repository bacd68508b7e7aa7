package dev.activator.config;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The outer form of Go's template language: texts, and actions between braces. What an action means
 * is known to those who fill a template in.
 *
 * <p>
 * <b>Source.</b> Go's {@code text/template/parse}, from which the words of the errors are.
 */
public final class GoTemplate {
  private static final Set<String> BLOCKS = Set.of("if", "range", "with", "define", "block");
  private static final String COMMENT = "/*";

  private GoTemplate() {}

  /** Comments are left out, and texts are trimmed where an action says so. */
  public sealed interface Part {
    record Text(String text) implements Part {}

    /**
     * An action.
     *
     * @param inside what stands between the braces
     * @param at where the inside begins in the template
     * @param begin where the braces are
     */
    record Action(String inside, int at, int begin) implements Part {}
  }

  /**
   * Splits a template.
   *
   * @throws TemplateException where an action has no end
   */
  public static List<Part> parts(String template) throws TemplateException {
    var parts = new ArrayList<Part>();
    int at = 0;
    boolean trim = false;
    for (int open = template.indexOf("{{"); open >= 0; open = template.indexOf("{{", at)) {
      boolean trimBefore = template.startsWith("- ", open + 2);
      int from = open + (trimBefore ? 4 : 2);
      int close = closing(template, from);
      if (close < 0) {
        throw new TemplateException("unclosed action", open);
      }
      boolean trimAfter = close - 2 >= from && template.startsWith(" -", close - 2);
      addText(parts, template.substring(at, open), trim, trimBefore);
      if (!template.startsWith(COMMENT, from)) {
        String inside = template.substring(from, trimAfter ? close - 2 : close);
        parts.add(new Part.Action(inside, from, open));
      }
      trim = trimAfter;
      at = close + 2;
    }
    addText(parts, template.substring(at), trim, false);
    return parts;
  }

  private static void addText(List<Part> to, String text, boolean leading, boolean trailing) {
    String left = leading ? text.stripLeading() : text;
    String kept = trailing ? left.stripTrailing() : left;
    if (!kept.isEmpty()) {
      to.add(new Part.Text(kept));
    }
  }

  /** The braces that end an action, which may also stand in a quote or a comment; -1 for none. */
  private static int closing(String text, int from) {
    if (text.startsWith(COMMENT, from)) {
      int end = text.indexOf("*/", from + 2);
      return end < 0 ? -1 : text.indexOf("}}", end);
    }
    char quote = 0;
    for (int i = from; i < text.length(); i++) {
      char c = text.charAt(i);
      if (quote != 0) {
        i += c == '\\' && quote != '`' ? 1 : 0;
        quote = c == quote ? 0 : quote;
      } else if (c == '"' || c == '`' || c == '\'') {
        quote = c;
      } else if (text.startsWith("}}", i)) {
        return i;
      }
    }
    return -1;
  }

  /** What is wrong with the outer form, in a few words; null if nothing is. */
  static @Nullable String problem(String template) {
    var open = new ArrayDeque<String>();
    try {
      for (var part : parts(template)) {
        if (part instanceof Part.Action action) {
          enter(action, open);
        }
      }
    } catch (TemplateException invalid) {
      return invalid.problem();
    }
    return open.isEmpty() ? null : "unexpected EOF: " + open.peek() + " has no end";
  }

  private static void enter(Part.Action action, Deque<String> open) throws TemplateException {
    String inside = action.inside().strip();
    if (inside.isEmpty()) {
      throw new TemplateException("missing value for command", action.begin());
    }
    String word = inside.split("\\s+", 2)[0];
    if (BLOCKS.contains(word)) {
      if (inside.equals(word)) {
        throw new TemplateException("missing value for " + word, action.begin());
      }
      open.push(word);
    } else if (word.equals("end") || word.equals("else")) {
      if (open.isEmpty()) {
        throw new TemplateException("unexpected {{" + word + "}}", action.begin());
      }
      if (word.equals("end")) {
        open.pop();
      }
    }
  }
}
