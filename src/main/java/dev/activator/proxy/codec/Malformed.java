package dev.activator.proxy.codec;

/** Bytes that are not a request, or could be read as two. Callers may see the message. */
public final class Malformed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Without a stack trace, as callers can cause it at will. */
  Malformed(String what) {
    super(what, null, false, false);
  }

  /** Other exceptions' texts may not be shown. */
  public static String text(Throwable cause, String otherwise) {
    return cause instanceof Malformed malformed
        ? String.valueOf(malformed.getMessage())
        : otherwise;
  }
}
