package dev.activator.proxy.codec;

/**
 * Bytes that are no request, or could be read as two. The message says why in words that whoever
 * sent them may see.
 */
public final class Malformed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Callers cause it as often as they like, so it has no stack trace. */
  Malformed(String what) {
    super(what, null, false, false);
  }

  /** What is wrong; the other text where the cause says nothing that may be shown. */
  public static String text(Throwable cause, String otherwise) {
    return cause instanceof Malformed malformed
        ? String.valueOf(malformed.getMessage())
        : otherwise;
  }
}
