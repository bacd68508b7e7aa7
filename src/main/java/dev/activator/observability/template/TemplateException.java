package dev.activator.observability.template;

/** A text is no template, or one that asks for what is not there. */
public final class TemplateException extends Exception {
  TemplateException(String message) {
    super(message);
  }
}
