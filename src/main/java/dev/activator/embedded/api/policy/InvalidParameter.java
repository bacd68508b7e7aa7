package dev.activator.embedded.api.policy;

/** A parameter of a read that cannot be served. */
public final class InvalidParameter extends IllegalArgumentException {
  /** What is wrong with it. */
  public enum Flaw {
    /** It cannot be read at all. */
    MALFORMED,
    /** It may not be given together with the others. */
    FORBIDDEN,
    /** It has a value nobody knows. */
    UNSUPPORTED
  }

  private final Flaw flaw;
  private final String field;

  InvalidParameter(Flaw flaw, String field, String message) {
    super(message);
    this.flaw = flaw;
    this.field = field;
  }

  public Flaw flaw() {
    return flaw;
  }

  /** The parameter's name. */
  public String field() {
    return field;
  }
}
