package dev.activator.proxy.codec;

/** Bytes that are not a request, or could be read as two. Callers may see the message. */
public final class Malformed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Has no stack trace, because callers can cause it as often as they like. */
  Malformed(String what) {
    super(what, null, false, false);
  }

  /** What is wrong; the other text if the cause has none that may be shown. */
  public static String text(Throwable cause, String otherwise) {
    return cause instanceof Malformed malformed
        ? String.valueOf(malformed.getMessage())
        : otherwise;
  }
}
