package dev.activator.proxy.codec;

/** Bytes that are not a request, or could be read as two. Callers may see the message. */
public final class MalformedRequestException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Without a stack trace, as callers can cause it at will. */
  MalformedRequestException(String what) {
    super(what, null, false, false);
  }

  /** Other exceptions' texts may not be shown. */
  public static String text(Throwable cause, String otherwise) {
    return cause instanceof MalformedRequestException malformed
        ? String.valueOf(malformed.getMessage())
        : otherwise;
  }
}
