package dev.activator.observability.template;

/** Something in a template that stands for a text. */
sealed interface Expression {
  String HEADER = "Request.Header";

  /** What it stands for now. */
  String evaluate(Values values) throws TemplateException;

  /** {@code .Request.Method}. */
  record Field(String path) implements Expression {
    @Override
    public String evaluate(Values values) throws TemplateException {
      var value = values.field(path);
      if (value == null) {
        throw new TemplateException("there is no ." + path);
      }
      return value;
    }
  }

  /** A quoted text. */
  record Text(String text) implements Expression {
    @Override
    public String evaluate(Values values) {
      return text;
    }
  }

  /** {@code .Request.Header.Get "Name"}: the first value, or nothing. */
  record Header(Expression name) implements Expression {
    @Override
    public String evaluate(Values values) throws TemplateException {
      var all = values.header(name.evaluate(values));
      return all.isEmpty() ? "" : all.getFirst();
    }
  }

  /** {@code index .Request.Header "Name"}: all values, as Go prints them. */
  record Index(Expression name) implements Expression {
    @Override
    public String evaluate(Values values) throws TemplateException {
      return "[" + String.join(" ", values.header(name.evaluate(values))) + "]";
    }
  }

  /** {@code js X}. */
  record Escaped(Expression inner) implements Expression {
    @Override
    public String evaluate(Values values) throws TemplateException {
      return GoText.js(inner.evaluate(values));
    }
  }
}
