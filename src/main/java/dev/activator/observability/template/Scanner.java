package dev.activator.observability.template;

/**
 * Reads what stands between the braces of an action, word by word.
 *
 * <p>
 * <b>Threads.</b> One.
 */
final class Scanner {
  private final String text;
  private final int end;
  private int at;

  Scanner(String text, int from, int end) {
    this.text = text;
    this.at = from;
    this.end = end;
  }

  int position() {
    return at;
  }

  /** The next character that is no blank; 0 at the end. */
  char peek() {
    while (at < end && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return at < end ? text.charAt(at) : 0;
  }

  /** Takes this character, if it is next. */
  boolean take(char wanted) {
    boolean found = peek() == wanted;
    at += found ? 1 : 0;
    return found;
  }

  /** A name of letters, digits and dots. */
  String name() {
    peek();
    int from = at;
    while (at < end && isName(text.charAt(at))) {
      at++;
    }
    return text.substring(from, at);
  }

  private static boolean isName(char c) {
    return Character.isLetterOrDigit(c) || c == '.' || c == '_' || c == '$';
  }

  /** A text in quotes or backquotes. */
  String quoted() throws TemplateException {
    int from = at;
    char quote = text.charAt(at++);
    var value = new StringBuilder();
    while (at < end && text.charAt(at) != quote) {
      char c = text.charAt(at++);
      value.append(c == '\\' && quote == '"' && at < end ? unescaped(text.charAt(at++)) : c);
    }
    if (at == end) {
      throw error("the quote has no end", from);
    }
    at++;
    return value.toString();
  }

  private char unescaped(char c) throws TemplateException {
    return switch (c) {
      case 'n' -> '\n';
      case 't' -> '\t';
      case '\\', '"' -> c;
      default -> throw error("\\" + c + " is not understood", at - 1);
    };
  }

  TemplateException error(String message, int position) {
    return new TemplateException(message + ", at character " + (position + 1) + " of the template");
  }
}
