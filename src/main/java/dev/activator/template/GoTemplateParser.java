package dev.activator.template;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Splits a Go template into text, actions in braces, and blocks.
 *
 * <p><b>Source.</b> Go's {@code text/template/parse}, also for the error messages.
 */
public final class GoTemplateParser {
  private static final Set<String> BLOCKS = Set.of("if", "range", "with", "define", "block");
  private static final Set<String> CHAINED = Set.of("if", "with");
  private static final String COMMENT = "/*";
  private static final String SPACE = " \t\r\n";

  private final String template;
  private final List<Node> flat;
  private int next;

  private GoTemplateParser(String template) throws GoTemplateException {
    this.template = template;
    this.flat = split(template);
  }

  /** A piece of a template. */
  public sealed interface Node {
    record Text(String text) implements Node {}

    /** @param at the offset of {@code inside}, the text between the braces */
    record Action(String inside, int at) implements Node {}

    /**
     * @param word the keyword, such as {@code if}
     * @param otherwise the nodes after its {@code else}
     */
    record Block(String word, Action argument, List<Node> body, List<Node> otherwise)
        implements Node {}
  }

  /**
   * Parses a template. Comments are dropped. A text is trimmed next to an action that has a minus
   * sign at its brace.
   */
  public static List<Node> parse(String template) throws GoTemplateException {
    var parser = new GoTemplateParser(template);
    var nodes = parser.nodes();
    if (parser.next < parser.flat.size()) {
      var stray = (Node.Action) parser.flat.get(parser.next);
      throw parser.error("unexpected {{" + word(stray) + "}}", stray);
    }
    return nodes;
  }

  /** The error message for a template; null if it is valid. */
  public static @Nullable String problem(String template) {
    try {
      parse(template);
      return null;
    } catch (GoTemplateException e) {
      return e.getMessage();
    }
  }

  /** The nodes up to the next {@code end} or {@code else}, or to the end of the template. */
  private List<Node> nodes() throws GoTemplateException {
    var nodes = new ArrayList<Node>();
    for (; next < flat.size(); next++) {
      var node = flat.get(next);
      if (node instanceof Node.Action action) {
        var word = word(action);
        if (word.equals("end") || word.equals("else")) {
          break;
        }
        node = BLOCKS.contains(word) ? block(word, action) : action;
      }
      nodes.add(node);
    }
    return nodes;
  }

  private Node.Block block(String word, Node.Action opening) throws GoTemplateException {
    var argument = behind(word, opening);
    if (argument.inside().isBlank()) {
      throw error("missing value for " + word, opening);
    }
    next++;
    var body = nodes();
    List<Node> otherwise = List.of();
    if (next < flat.size() && word((Node.Action) flat.get(next)).equals("else")) {
      var alternative = behind("else", (Node.Action) flat.get(next));
      var chained = word(alternative);
      if (CHAINED.contains(chained) && CHAINED.contains(word)) {
        return new Node.Block(word, argument, body, List.of(block(chained, alternative)));
      }
      if (!chained.isEmpty()) {
        throw error("unexpected '" + chained + "' behind else", alternative);
      }
      next++;
      otherwise = nodes();
    }
    if (next >= flat.size()) {
      throw error("unexpected EOF: " + word + " has no end", opening);
    }
    var end = (Node.Action) flat.get(next);
    if (!end.inside().strip().equals("end")) {
      throw error("unexpected {{" + end.inside().strip() + "}}", end);
    }
    return new Node.Block(word, argument, body, otherwise);
  }

  private static String word(Node.Action action) {
    return action.inside().strip().split("[^a-z]", 2)[0];
  }

  private static Node.Action behind(String word, Node.Action action) {
    int from = action.inside().indexOf(word) + word.length();
    return new Node.Action(action.inside().substring(from), action.at() + from);
  }

  private GoTemplateException error(String problem, Node.Action action) {
    String inside = action.inside();
    int blanks = inside.length() - inside.stripLeading().length();
    return GoTemplateException.at(problem, template, action.at() + blanks);
  }

  private static List<Node> split(String template) throws GoTemplateException {
    var parts = new ArrayList<Node>();
    int at = 0;
    boolean trim = false;
    for (int open = template.indexOf("{{"); open >= 0; open = template.indexOf("{{", at)) {
      boolean trimBefore = template.startsWith("-", open + 2) && isSpace(template, open + 3);
      int from = open + (trimBefore ? 4 : 2);
      int close = closing(template, from);
      if (close < 0) {
        throw GoTemplateException.at("unclosed action", template, open);
      }
      boolean trimAfter = close - 2 >= from - 1 && template.startsWith("-", close - 1)
          && isSpace(template, close - 2);
      addText(parts, template.substring(at, open), trim, trimBefore);
      if (!template.startsWith(COMMENT, from)) {
        String inside = template.substring(from, trimAfter ? Math.max(from, close - 2) : close);
        if (inside.isBlank()) {
          throw GoTemplateException.at("missing value for command", template, open);
        }
        parts.add(new Node.Action(inside, from));
      }
      trim = trimAfter;
      at = close + 2;
    }
    addText(parts, template.substring(at), trim, false);
    return parts;
  }

  private static boolean isSpace(String text, int at) {
    return at < text.length() && SPACE.indexOf(text.charAt(at)) >= 0;
  }

  private static void addText(List<Node> to, String text, boolean leading, boolean trailing) {
    String left = leading ? text.stripLeading() : text;
    String kept = trailing ? left.stripTrailing() : left;
    if (!kept.isEmpty()) {
      to.add(new Node.Text(kept));
    }
  }

  /**
   * The offset of the closing braces, which are not searched in quotes and comments; -1 if there
   * are none.
   */
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
}
