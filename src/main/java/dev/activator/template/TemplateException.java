package dev.activator.template;

/** A template that cannot be parsed, with the position, or cannot be filled in. */
public final class TemplateException extends Exception {
  public TemplateException(String problem) {
    super(problem);
  }

  /** @param at offset in the template */
  static TemplateException at(String problem, String template, int at) {
    int line = 1 + (int) template.substring(0, at).chars().filter(c -> c == '\n').count();
    int column = at - template.lastIndexOf('\n', at - 1);
    return new TemplateException(
        problem + ", at line " + line + ", column " + column + " of the template");
  }
}
