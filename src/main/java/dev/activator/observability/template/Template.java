package dev.activator.observability.template;

import java.util.ArrayList;
import java.util.List;

/**
 * A text with places that are filled in: {@code {{.Field}}}, {@code {{js .Field}}} and the like.
 *
 * <p>
 * <b>Source.</b> Go's {@code text/template}, of which fields, quoted texts, {@code js},
 * {@code index}, headers, pipes, comments and trimming are understood. That a field does not exist
 * shows only when it is asked for, as in Go.
 */
public final class Template {
  private final List<Expression> parts;

  private Template(List<Expression> parts) {
    this.parts = List.copyOf(parts);
  }

  /**
   * Reads one.
   *
   * @throws TemplateException naming what is not understood, and where
   */
  public static Template parse(String text) throws TemplateException {
    var parts = new ArrayList<Expression>();
    int at = 0;
    boolean trim = false;
    for (int open = text.indexOf("{{"); open >= 0; open = text.indexOf("{{", at)) {
      var action = Action.at(text, open);
      addText(parts, text.substring(at, open), trim, action.trimsBefore());
      if (!action.isComment()) {
        parts.add(new ActionParser(new Scanner(text, action.from(), action.to())).parse());
      }
      trim = action.trimsAfter();
      at = action.end();
    }
    addText(parts, text.substring(at), trim, false);
    return new Template(parts);
  }

  private static void addText(List<Expression> to, String text, boolean leading,
      boolean trailing) {
    String left = leading ? text.stripLeading() : text;
    String kept = trailing ? left.stripTrailing() : left;
    if (!kept.isEmpty()) {
      to.add(new Expression.Text(kept));
    }
  }

  /**
   * The text with its places filled in.
   *
   * @throws TemplateException where it asks for what there is not
   */
  public String fill(Values values) throws TemplateException {
    var filled = new StringBuilder(512);
    for (var part : parts) {
      filled.append(part.evaluate(values));
    }
    return filled.toString();
  }

  /** Where an action is: its inside, its end, and whether it trims the text around it. */
  private record Action(int from, int to, int end, boolean trimsBefore, boolean trimsAfter,
      boolean isComment) {

    static Action at(String text, int open) throws TemplateException {
      int from = open + 2;
      boolean before = text.startsWith("- ", from);
      from += before ? 2 : 0;
      int close = closing(text, from);
      if (close < 0) {
        throw new TemplateException(
            "unclosed action, at character " + (open + 1) + " of the template");
      }
      boolean after = text.startsWith(" -", close - 2) && close - 2 >= from;
      boolean comment = text.startsWith("/*", from);
      return new Action(from, after ? close - 2 : close, close + 2, before, after, comment);
    }

    /** The braces that end it, which those within a quote or a comment do not. */
    private static int closing(String text, int from) {
      if (text.startsWith("/*", from)) {
        int end = text.indexOf("*/", from + 2);
        return end < 0 ? -1 : text.indexOf("}}", end);
      }
      char quote = 0;
      for (int i = from; i < text.length(); i++) {
        char c = text.charAt(i);
        if (quote != 0) {
          i += c == '\\' && quote == '"' ? 1 : 0;
          quote = c == quote ? 0 : quote;
        } else if (c == '"' || c == '`') {
          quote = c;
        } else if (text.startsWith("}}", i)) {
          return i;
        }
      }
      return -1;
    }
  }
}
