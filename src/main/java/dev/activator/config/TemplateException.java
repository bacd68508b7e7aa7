package dev.activator.config;

/** A text is not a template, or asks for something that does not exist. */
public final class TemplateException extends Exception {
  private final String problem;

  public TemplateException(String problem) {
    super(problem);
    this.problem = problem;
  }

  /** @param at where in the template, from 0 */
  public TemplateException(String problem, int at) {
    super(problem + ", at character " + (at + 1) + " of the template");
    this.problem = problem + " at character " + (at + 1);
  }

  String problem() {
    return problem;
  }
}
