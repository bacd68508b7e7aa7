package dev.activator.template;

/** Says that a Go template cannot be parsed (with the position), or cannot be filled in. */
public final class GoTemplateException extends Exception {
  public GoTemplateException(String problem) {
    super(problem);
  }

  /** @param at offset in the template */
  static GoTemplateException at(String problem, String template, int at) {
    int line = 1 + (int) template.substring(0, at).chars().filter(c -> c == '\n').count();
    int column = at - template.lastIndexOf('\n', at - 1);
    return new GoTemplateException(
        problem + ", at line " + line + ", column " + column + " of the template");
  }
}
