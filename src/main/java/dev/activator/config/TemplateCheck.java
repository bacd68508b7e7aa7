package dev.activator.config;

import org.jspecify.annotations.Nullable;

/** Knows which texts are templates in the language of Go's {@code text/template}. */
@FunctionalInterface
public interface TemplateCheck {
  /** What is wrong with the text, in a few words; null if it is a template. */
  @Nullable String problem(String template);
}
