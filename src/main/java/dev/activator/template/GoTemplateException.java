package dev.activator.template;

/**
 * A Go template cannot be parsed, or cannot be filled in. The message of a parse error has the
 * position.
 */
public final class GoTemplateException extends Exception {
  public GoTemplateException(String problem) {
    super(problem);
  }

  /** @param at the offset in the template */
  public static GoTemplateException at(String problem, String template, int at) {
    int line = 1 + (int) template.substring(0, at).chars().filter(c -> c == '\n').count();
    int column = at - template.lastIndexOf('\n', at - 1);
    return new GoTemplateException(
        problem + ", at line " + line + ", column " + column + " of the template");
  }
}
